"""Attacks, from the cache."""

from __future__ import annotations

from pages._ui.attack import attacks
from pages._ui.attack.attacks import Attacked, OutputAttack, PathAttack
from pages._ui.work import cached


def attacked(attack: PathAttack | OutputAttack) -> Attacked:
    """LiRA against posterior paths, or the best attack on a Gaussian release."""
    if isinstance(attack, PathAttack):
        return cached.value("Attacking with shadow data sets", attacks.attack_paths, attack)
    data = cached.dataset(attack.model.dataset)
    return cached.value("Attacking simulated releases", attacks.attack_outputs, attack, given=(data,))
