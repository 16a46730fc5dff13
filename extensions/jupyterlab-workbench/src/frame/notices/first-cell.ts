// The first cell of who has none: a complete small program.

export const FIRST_CELL = `import workbench as wb

@wb.program
def walk(B=64, T=100, gamma=0.99):
    """A random walk, and the discounted rewards that are still to come."""
    b, t = wb.dims(b=B, t=T)
    state = wb.recurrent("state", (), over=(b, t))
    state[b, 0] = wb.normal(over=b)
    state[b, t + 1] = 0.9 * state + wb.normal(over=(b, t))
    reward = -(state * state)
    to_go = wb.discounted_sum(reward[b, t:T], gamma)
    return {"episode_return": to_go[b, 0].mean(over=b)}

wb.Workbench(walk())
`;
