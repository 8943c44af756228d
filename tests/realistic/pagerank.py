"""Graphs: weighted PageRank by power iteration; how far the ranks are from observed traffic."""

import numpy as np


def normalise(links, weights):
    """Outgoing weights of every page, made to sum to one; pages without links are reported."""
    transition = {}
    dangling = []
    position = 0
    for page, targets in links.items():
        if not targets:
            dangling.append(page)
            continue
        own = np.exp(weights[position : position + len(targets)])
        position += len(targets)
        transition[page] = dict(zip(targets, own / own.sum()))
    if position != len(weights):
        raise ValueError(f"{len(weights)} weights for {position} links")
    return transition, dangling


def pagerank(links, weights, damping=0.85, tol=1e-10, max_iter=100):
    transition, dangling = normalise(links, weights)
    n = len(links)
    rank = {page: 1.0 / n for page in links}
    for iteration in range(max_iter):
        lost = sum(rank[page] for page in dangling)
        new = {page: (1 - damping) / n + damping * lost / n for page in links}
        for page, targets in transition.items():
            for target, share in targets.items():
                new[target] += damping * share * rank[page]
        change = sum(abs(new[page] - rank[page]) for page in links)
        rank = new
        if change < tol:
            break
    else:
        print(f"no convergence after {max_iter} iterations")
    return rank


def loss(weights, damping, links, traffic):
    unknown = [page for page in traffic if page not in links]
    if unknown:
        raise KeyError(f"traffic of unknown pages: {', '.join(unknown)}")
    rank = pagerank(links, weights, damping)
    total = sum(traffic.values())
    return sum((rank[page] - count / total) ** 2 for page, count in traffic.items())


WRT = ("weights", "damping")


def arguments():
    links = {"home": ["news", "shop", "help"], "news": ["home"], "shop": ["home", "help"], "help": [], "old": ["home", "old"]}
    traffic = {"home": 120.0, "news": 40.0, "shop": 75.0, "help": 30.0}
    return np.array([0.2, 0.5, -0.3, 0.0, 0.1, -0.4, 0.3, -0.2]), 0.85, links, traffic
