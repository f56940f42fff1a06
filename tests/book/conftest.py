"""What several tests of the book need."""

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """
    Several tests run at once, and their threads would wait for each other. And for a
    small network, to wake a second one takes longer than to do it.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
