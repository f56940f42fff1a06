"""With this folder in `PYTHONPATH`, programs that tests start are recorded, too."""

import coverage

coverage.process_startup()
