/** The operator's view of edges and SIP proxies: list, drain, weigh, remove. */
export { edgeRoutes } from './routes.ts';
export { changeEdge, listEdges, listProxies, removeEdge, setProxies } from './store.ts';
