import { type Graph, loadGraph } from '#shared/agent/graph.ts';

/**
 * Instructions without a pathway are a pathway of one node, and of one more for each target of a transfer, which is
 * reached when the caller asks for it and leads back when the transfer fails.
 * @param transfers name to target; `default` is the one without a name (contract 9.1)
 */
export function taskGraph(task: string, transfers: Readonly<Record<string, string>>): Graph {
  const targets = Object.entries(transfers).map(([name, transferNumber], index) => {
    const whom = name === 'default' ? 'a human, agent, operator or representative' : name;
    const globalLabel = `transfer to ${whom}`;
    const data = { name: `Transfer: ${name}`.slice(0, 200), transferNumber, isGlobal: true, globalLabel };
    return { id: `transfer-${index}`, type: 'Transfer Call', data };
  });
  const start = { id: 'task', type: 'Default', data: { name: 'Task', isStart: true, prompt: task } };
  return loadGraph([start, ...targets], []);
}
