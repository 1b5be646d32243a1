/** The operator's view of edges and SIP proxies: list, drain, weigh. */
export { edgeRoutes } from './routes.ts';
export { changeEdge, listEdges, listProxies, setProxies } from './store.ts';
