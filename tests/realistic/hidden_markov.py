"""Statistics: negative log-likelihood of hidden Markov models by the scaled forward algorithm, with lists."""

import math


def softmax(row):
    biggest = max(row)
    exps = [math.exp(v - biggest) for v in row]
    total = sum(exps)
    return [e / total for e in exps]


def emission_probability(observation, mean, std):
    z = (observation - mean) / std
    return math.exp(-0.5 * z * z) / (std * math.sqrt(2 * math.pi))


def forward(sequence, start, transition, means, stds):
    """Log-likelihood of one sequence."""
    n_states = len(start)
    log_likelihood = 0.0
    alpha = None
    for t, obs in enumerate(sequence):
        emissions = [emission_probability(obs, m, s) for m, s in zip(means, stds)]
        if t == 0:
            alpha = [start[k] * emissions[k] for k in range(n_states)]
        else:
            new = []
            for k in range(n_states):
                incoming = sum(alpha[j] * transition[j][k] for j in range(n_states))
                new.append(incoming * emissions[k])
            alpha = new
        scale = sum(alpha)
        if scale <= 0.0:
            return -math.inf
        log_likelihood += math.log(scale)
        alpha = [a / scale for a in alpha]
    return log_likelihood


def loss(start_logits, transition_logits, means, log_stds, sequences):
    n = len(start_logits)
    for k, row in enumerate(transition_logits):
        if len(row) != n:
            raise ValueError(f"row {k} of the transitions has {len(row)} entries, not {n}")
    start = softmax(start_logits)
    transition = [softmax(row) for row in transition_logits]
    stds = [math.exp(s) for s in log_stds]
    total, symbols = 0.0, 0
    for sequence in sequences:
        if not sequence:
            continue
        total -= forward(sequence, start, transition, means, stds)
        symbols += len(sequence)
    return total / symbols


WRT = ("start_logits", "transition_logits", "means", "log_stds")


def arguments():
    sequences = [
        [0.1, 0.3, -0.2, 1.8, 2.2, 2.1, 0.2],
        [2.0, 1.9, 2.4, -0.1],
        [],
        [-1.6, -1.2, 0.2, 0.1, -0.3, 1.7],
    ]
    transition = [[1.0, 0.1, -0.4], [0.0, 1.2, -0.3], [-0.2, 0.1, 0.9]]
    return [0.2, -0.1, 0.0], transition, [0.0, 2.0, -1.5], [-0.5, -0.7, -0.2], sequences
