/**
 * Where the screens of the console are. Control answers these paths with its page, and the page shows the screen of the
 * path: with one list, no path works only until the page is reloaded. No endpoint of the API has one of them.
 */
export const consolePaths = {
  overview: '/',
  live: '/live',
  calls: '/calls',
  call: '/calls/:id',
  refused: '/refused',
  trunks: '/trunks',
  trunk: '/trunks/:id',
  alerts: '/alerts',
  connect: '/connect',
  pathways: '/pathways',
  pathway: '/pathways/:id',
  personas: '/personas',
  tests: '/tests',
  test: '/tests/:id',
  runs: '/runs',
  run: '/runs/:id',
  sets: '/sets',
  set: '/sets/:id',
  loads: '/loads',
  load: '/loads/:id',
  watches: '/watches',
  watch: '/watches/:id',
  quality: '/quality',
  pathwayQuality: '/quality/:id',
  widgets: '/widgets',
  widget: '/widgets/:id',
  tools: '/tools',
  tool: '/tools/:id',
  ports: '/ports',
  port: '/ports/:id',
  edges: '/edges',
  keys: '/keys',
  organization: '/organization',
  changes: '/changes',
  deliveries: '/deliveries',
  sessions: '/sessions',
} as const;

export type ScreenName = keyof typeof consolePaths;
