"""Programs that compare this project with its peers, side by side in one run."""
