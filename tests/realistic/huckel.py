"""Chemistry: Hückel pi-electron energy of a conjugated molecule with bond-length dependent coupling."""

import math

import numpy as np

ALPHA = {"C": 0.0, "N": 0.5, "O": 1.0}
SCALE = {frozenset("C"): 1.0, frozenset("CN"): 1.0, frozenset("CO"): 0.8}


def coupling(length, pair, beta, decay, reference=1.397):
    return beta * SCALE[pair] * math.exp(-decay * (length - reference))


def hamiltonian(atoms, bonds, lengths, beta, decay):
    n = len(atoms)
    H = np.zeros((n, n))
    for i, atom in enumerate(atoms):
        if atom not in ALPHA:
            raise KeyError(f"no parameter for element {atom!r} at position {i}")
        H[i, i] = ALPHA[atom] * beta
    for (i, j), length in zip(bonds, lengths):
        b = coupling(length, frozenset(atoms[i] + atoms[j]), beta, decay)
        H[i, j] = b
        H[j, i] = b
    return H


def occupations(n_orbitals, electrons):
    occ = []
    left = electrons
    while left > 0:
        occ.append(min(2, left))
        left -= 2
    occ += [0] * (n_orbitals - len(occ))
    return occ


def loss(lengths, beta, decay, atoms, bonds, electrons=None, spring=20.0):
    if len(lengths) != len(bonds):
        raise ValueError(f"{len(bonds)} bonds but {len(lengths)} lengths")
    if electrons is None:
        electrons = len(atoms)
    if electrons > 2 * len(atoms):
        raise ValueError(f"{electrons} electrons do not fit into {len(atoms)} orbitals")
    levels, vectors = np.linalg.eigh(hamiltonian(atoms, bonds, lengths, beta, decay))
    occ = occupations(len(atoms), electrons)
    energy = sum(o * e for o, e in zip(occ, levels))
    elastic = sum(0.5 * spring * (r - 1.5) ** 2 for r in lengths)
    charges = np.zeros(len(atoms))
    for o, orbital in zip(occ, vectors.T):
        charges += o * orbital**2
    return energy + elastic + 0.01 * np.sum((charges - 1) ** 2)


WRT = ("lengths", "beta", "decay")


def arguments():
    atoms = "CCNCCO"
    bonds = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 4)]
    return np.array([1.38, 1.42, 1.36, 1.41, 1.25, 1.45]), -2.5, 2.1, atoms, bonds
