// The pixel under the site's own address, by rewrites of Next.js. The script of pages is /f3a9c2/p/PIXEL_ID.js.
// Choose a path of your own (openssl rand -hex 3). Set FOOTFALL_COLLECTOR_URL=https://your-site.example/f3a9c2.
// Start the collector with FOOTFALL_TRUSTED_PROXIES set to the address of the Next.js server.
const prefix = '/f3a9c2'
const collector = 'https://collector.example'

/** Only what pages load and send to. */
const routes = [
  '/e',
  '/e.gif',
  '/p/:script',
  '/v1/:call(track|page|screen|identify|group|alias|batch|[tpsigabm])',
]

export default {
  rewrites: async () =>
    routes.map((route) => ({
      source: prefix + route,
      destination: collector + route.replace(/\(.*\)$/, ''),
    })),
}
