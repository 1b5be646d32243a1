/**
 * For each path, the router of a control plane generates code: more than a thousand functions in one start, a fifth of its
 * CPU time. In the processes of the tests, functions of the same short text are one function. None has a state.
 */

/** Longer ones are rarely the same, and would keep their text. */
const longest = 2_000;
/** Functions that are kept; one control plane makes 1,500 different ones. */
const most = 20_000;
const made = new Map<string, object>();

globalThis.Function = new Proxy(Function, {
  construct: (Original, parts: unknown[], target) => {
    const text = parts.join('\n\0');
    const known = made.get(text);
    if (known) return known;
    const one: object = Reflect.construct(Original, parts, target);
    if (text.length <= longest && made.size < most) made.set(text, one);
    return one;
  },
});
