"""The pages, one row each.

Navigation, the server's own visits, screenshots and tests all follow from these rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from pages._ui import attack
from pages._ui.cloaking import cells as cloaking
from pages._ui.cloaking import computed, variants
from pages._ui.compare import view as compare
from pages._ui.excursion import view as excursion
from pages._ui.explore import controls as explore
from pages._ui.hiding import steps as hiding
from pages._ui.lengthscale import view as lengthscale
from pages._ui.look import settings, sidebar
from pages._ui.look.controls import Control, Menu
from pages._ui.look.settings import Settings
from pages._ui.sparse import view as sparse
from pages._ui.start import decision as start

Section = Literal["Learn", "Explore", "Decide", "Publish"]


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page of the dashboard.

    Attributes:
        file: name of the file in ``pages`` without its extension. It is also the address, except for the first page,
            which is at the root.
        title: title in the navigation.
        icon: name of a Material symbol.
        section: section of the navigation.
        settings: class of the page's settings.
        body: menus in the body of the page, whose values may depend on results.
        of_one_session: whether the page shares no result with other sessions, so that nothing is computed in advance.
    """

    file: str
    title: str
    icon: str
    section: Section
    settings: type[Settings] = Settings
    body: Sequence[Menu[Any]] = ()
    of_one_session: bool = False

    @property
    def path(self) -> str:
        """Path relative to the entry script, as streamlit needs it."""
        return f"../{self.file}.py"

    def controls(self) -> list[Control[Any]]:
        """Return the controls of its settings, while none has been moved, and the menus of its body."""
        return [*settings.every(self.settings), *self.body]


PAGES = (
    Page(file="start", title="Start", icon="home", section="Learn", settings=start.Decision),
    Page(
        file="kung_curves",
        title="!Kung curves",
        icon="show_chart",
        section="Explore",
        settings=sidebar.ReleaseSettings,
        body=(computed.BESIDE, variants.VARIED),
    ),
    Page(
        file="london_noise_map",
        title="London noise map",
        icon="map",
        section="Explore",
        settings=sidebar.MapSettings,
        body=(cloaking.LAYER, computed.BESIDE, variants.VARIED),
    ),
    Page(
        file="excursion_sets",
        title="Excursion sets",
        icon="landscape",
        section="Explore",
        settings=excursion.ExcursionSettings,
        body=(excursion.LAYER,),
    ),
    Page(
        file="lengthscale_choice",
        title="Lengthscale choice",
        icon="straighten",
        section="Decide",
        settings=lengthscale.ChoiceSettings,
    ),
    Page(
        file="compare",
        title="Compare",
        icon="balance",
        section="Decide",
        settings=compare.CompareSettings,
        body=(compare.RELEASE_OF,),
    ),
    Page(
        file="sparse_dp_gp",
        title="Sparse DP-GP",
        icon="scatter_plot",
        section="Explore",
        settings=sparse.SparseSettings,
    ),
    Page(file="attack", title="Attack", icon="visibility", section="Learn", settings=attack.AttackSettings),
    Page(file="your_data", title="Your data & release", icon="upload_file", section="Publish", of_one_session=True),
    Page(
        file="explore_release",
        title="Explore a release, free",
        icon="travel_explore",
        section="Publish",
        settings=explore.ExploreSettings,
        body=(explore.QUESTION, explore.OF),
    ),
    Page(
        file="how_cloaking_works",
        title="How cloaking works",
        icon="visibility_off",
        section="Learn",
        settings=hiding.HidingSettings,
    ),
)
# Parameter -> value -> title, for every menu; an address may contain the value or the title
TITLES: Mapping[str, Mapping[str, str]] = {
    each.key: each.written_titles for page in PAGES for each in page.controls() if isinstance(each, Menu)
}


def sections() -> dict[str, list[Page]]:
    """Return the pages of each section of the navigation."""
    return {name: [page for page in PAGES if page.section == name] for name in get_args(Section)}


def shared() -> list[Page]:
    """Return the pages whose results all visitors share, in the order of the navigation."""
    return [page for page in PAGES if not page.of_one_session]
