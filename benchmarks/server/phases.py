"""What the sessions of the load benchmark do, phase by phase."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

from websockets.exceptions import WebSocketException

from benchmarks.server.client import Session
from benchmarks.server.report import Phase
from datasets import exhibit
from pages._ui import menu
from pages._ui.look.offers import EPSILONS, NOISES, lengthscale_key, whole

PAGES = tuple("" if page == menu.PAGES[0] else page.file for page in menu.PAGES)
COLD = {"kung_curves": "kung", "london_noise_map": "london_hexes"}  # page -> the dataset it opens with
SEED = 1

Step = Callable[[int], Awaitable[bool]]  # turn -> whether there is more to do


@dataclass(frozen=True)
class Load:
    """How much is asked.

    Args:
        address: of the server.
        sessions: at once, >= 1.
        moves: of each session in a phase, >= 1.
        seconds: no move starts later than this after its phase has begun.
        think: mean pause before a move, in seconds.
    """

    address: str
    sessions: int
    moves: int
    seconds: float
    think: float


async def first_visits(load: Load) -> Phase:
    """Every page once, one after the other."""
    phase = Phase("every page once, at its defaults, alone")
    for page in PAGES:
        with noting_failures(phase):
            async with Session(load.address, page) as tab:
                phase.note(await tab.open())
    return phase


async def openings(load: Load) -> Phase:
    """All sessions open pages, each its own sequence."""
    phase = Phase(f"{load.sessions} sessions open pages at their defaults")

    async def visit(number: int) -> None:
        async def step(turn: int) -> bool:
            async with Session(load.address, PAGES[(number + turn) % len(PAGES)]) as tab:
                phase.note(await tab.open())
            return True

        with noting_failures(phase):
            await _paced(load, number, step)

    await asyncio.gather(*map(visit, range(load.sessions)))
    return phase


async def warm(load: Load) -> Phase:
    """Epsilon moves on a page whose first two stages are cached."""
    phase = Phase(f"{load.sessions} sessions move epsilon on !Kung curves")
    await asyncio.gather(
        *(_move_epsilon(load, "kung_curves", number, phase, says=True) for number in range(load.sessions))
    )
    return phase


async def cold(load: Load) -> list[Phase]:
    """Settings that are not cached, half on each page; meanwhile a fifth as many visitors on the start page."""
    pages = list(itertools.islice(itertools.cycle(COLD), load.sessions))
    phases = {page: Phase(f"{pages.count(page)} sessions: new settings, {page}") for page in COLD}
    aside = Phase("   meanwhile: epsilon on the start page")
    unseen = {page: _unseen(dataset) for page, dataset in COLD.items()}
    visits = [_change_settings(load, page, number, phases[page], unseen[page]) for number, page in enumerate(pages)]
    bystanders = range(load.sessions, load.sessions + max(1, load.sessions // 5))
    visits += [_move_epsilon(load, "", number, aside, says=False) for number in bystanders]
    await asyncio.gather(*visits)
    return [phase for phase in (*phases.values(), aside) if phase.seconds or phase.errors]


async def _move_epsilon(load: Load, page: str, number: int, phase: Phase, says: bool) -> None:
    with noting_failures(phase):
        async with Session(load.address, page) as tab:
            phase.errors += (await tab.open()).exceptions  # its time is another phase's

            async def step(turn: int) -> bool:
                epsilon = EPSILONS[(number + 4 * turn) % len(EPSILONS)]
                phase.note(await tab.move(epsilon=epsilon), epsilon if says else None)
                return True

            await _paced(load, number, step)


async def _change_settings(
    load: Load, page: str, number: int, phase: Phase, unseen: Iterator[tuple[float, float]]
) -> None:
    slider = lengthscale_key(exhibit(COLD[page]))
    with noting_failures(phase):
        async with Session(load.address, page) as tab:
            phase.errors += (await tab.open()).exceptions

            async def step(_turn: int) -> bool:
                setting = next(unseen, None)  # shared by the page's sessions: none asks for what another has seen
                if setting is not None:
                    phase.note(await tab.move(**{slider: setting[0], "noise": setting[1]}), 1.0)
                return setting is not None

            await _paced(load, number, step)


async def _paced(load: Load, number: int, step: Step) -> None:
    """Up to ``load.moves`` steps with pauses, until one says that there is no more, or the time is up."""
    rng, deadline = random.Random(SEED + number), time.monotonic() + load.seconds
    for turn in range(load.moves):
        await asyncio.sleep(rng.uniform(0, 2 * load.think))
        if time.monotonic() > deadline or not await step(turn):
            return


@contextlib.contextmanager
def noting_failures(phase: Phase) -> Iterator[None]:
    """A session that is cut off, refused or not answered is an error of its phase, not the benchmark's end."""
    try:
        yield
    except (OSError, TimeoutError, WebSocketException) as failure:
        phase.errors.append(repr(failure))


def _unseen(dataset: str) -> Iterator[tuple[float, float]]:
    """(lengthscale, noise) pairs that the page offers and does not open with, shuffled."""
    shown = exhibit(dataset)
    grid = whole(shown.lengthscales)
    settings = [pair for pair in itertools.product(grid, NOISES) if pair != (shown.lengthscale, 0.3)]
    random.Random(SEED).shuffle(settings)
    return iter(settings)
