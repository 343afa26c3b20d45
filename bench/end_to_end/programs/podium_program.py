"""podium, without any setting: who a user is, and a budget."""

from __future__ import annotations

from protocol import main


# user code
def top(path: str, k: int, bound: int, epsilon: float, delta: float) -> list[object]:
    import podium

    release = podium.top(path, user="user_id", item="item", k=k, epsilon=epsilon, delta=delta)
    return list(release.items)


# end
if __name__ == "__main__":
    main(top)
