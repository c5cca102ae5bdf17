"""What moves, moves for nobody who asked it not to; and what changes is said aloud."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.full


def test_the_answer_is_said_aloud_and_motion_can_be_reduced(visit):
    visit.page.emulate_media(reduced_motion="reduce")
    page = visit.open("kung_curves")
    assert page.locator(".st-key-answer [role=status][aria-live=polite]").inner_text().startswith("At epsilon = 1")
    slow = page.evaluate("""Array.from(document.querySelectorAll("*"))
        .filter(each => parseFloat(getComputedStyle(each).transitionDuration) > 0.01).length""")
    assert slow == 0
