import streamlit as st

from pages._ui import attack
from pages._ui.attack import AttackSettings
from pages._ui.look import in_python, layout, pictures, settings
from pages._ui.scripts import studies
from pages._ui.work import cached

chosen = settings.chosen(AttackSettings)
setting, show, paths = chosen.attack, chosen.overlay, chosen.target == "paths"

if show:
    layout.title(attack.TITLE)
    attacked = attack.attacked(setting)
    layout.headline(attack.answer(attacked, paths))
    layout.overlay_banner("The attack is simulated with the true data or with data sets like it.")
    roc, numbers = cached.drawn(attack.roc_figure, attacked, False, of=setting), attack.table(attacked)
    pictures.chart(roc, "roc", attack.caption(attacked), numbers=numbers, caption="")
    layout.metrics(attack.metrics(attacked))
    few, values, how, python, lesson = st.tabs(
        ["Few accusations", "Table", "How it is computed", in_python.TITLE, "Try this"]
    )
    with few:
        stretched = cached.drawn(attack.roc_figure, attacked, True, of=setting)
        pictures.chart(stretched, "roc_log", attack.LOGARITHMIC, numbers=numbers)
    with values:
        layout.table(numbers, "attack", attack.TABLE_NOTE)
    with how:
        layout.steps(attack.steps(attacked, paths))
    with python:
        in_python.draw(studies.attacked(chosen))
    with lesson:
        layout.lessons(
            "attack",
            [
                (
                    "Posterior paths, as in Maciazek et al.: three paths, δ = 0.05.",
                    {"attack_on": "paths", "attack_r": 0.1, "attack_paths": 3, "attack_delta": 0.05},
                ),
                (
                    "Little noise and three paths: the attack finds almost everyone.",
                    {"attack_on": "paths", "attack_r": 0.1, "attack_paths": 3},
                ),
                (
                    "A larger ridge hides the person, even in one path.",
                    {"attack_on": "paths", "attack_r": 2},
                ),
                (
                    "A hundred paths cost a hundred times the loss.",
                    {"attack_on": "paths", "attack_sigma": 2, "attack_paths": 100},
                ),
                ("A weak promise on the cloaked curve: ε = 5.", {"epsilon": 5}),
            ],
        )
else:
    layout.needs_overlay(attack.TITLE)
layout.guarantee_card(setting.guarantee, "The attacker here knows the mechanism, its settings and n.")
layout.state_link()
