#!/usr/bin/env python3
# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
# ---

# %% [markdown]
# # A notebook
#
# Without a docstring, the title is in a comment.

# %%
import math

# %% Load the data [markdown] tags=["a"]
# Words below the title of a cell.

# %% tags=["hide"]
x = 1

# In[3]:
y = 2

# + tags=["hide"]
z = 3
# -

# +
# Words of a light cell.
w = 4
# -

# - This is a list,
# - and 100 %% is a number, + is a sign.

# %% 1. Fit
# + [A list](https://example.org) too,
# + a=1 and its items.

# ```mermaid
# %% a remark
# graph LR
# ```


def in_a_function():
    # %% Here
    # A title in a body.
    return math.pi


# %% auto 0
# %% ../nbs/00_core.ipynb 3
# %%time
# sphinx_gallery_thumbnail_number = 2
