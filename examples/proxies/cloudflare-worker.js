// The pixel under the site's own address, by a Cloudflare Worker with the route your-site.example/f3a9c2/*.
// The script of pages is /f3a9c2/p/PIXEL_ID.js.
// Choose a path of your own (openssl rand -hex 3), and set FOOTFALL_COLLECTOR_URL=https://your-site.example/f3a9c2.
// Start the collector with FOOTFALL_TRUSTED_PROXIES set to Cloudflare's addresses (https://www.cloudflare.com/ips/), and let
// its firewall admit nobody else to it: whoever reaches it from there decides which address a visitor has.
const prefix = '/f3a9c2'
const collector = 'https://collector.example'

/** Only what pages load and send to. */
const published =
  /^\/(e|e\.gif|p\/[^/%]+|v1\/(track|page|screen|identify|group|alias|batch|[tpsigabm]))$/

export default {
  async fetch(request) {
    const { pathname, search } = new URL(request.url)
    const path = pathname.startsWith(`${prefix}/`) ? pathname.slice(prefix.length) : ''
    // Everything else is the site's own.
    if (!published.test(path)) return fetch(request)
    const headers = new Headers(request.headers)
    headers.delete('host')
    headers.set('x-forwarded-for', request.headers.get('cf-connecting-ip') ?? '')
    headers.set('x-forwarded-proto', 'https')
    const body = request.method === 'POST' ? await request.arrayBuffer() : undefined
    return fetch(collector + path + search, {
      method: request.method,
      headers,
      body,
      redirect: 'manual',
    })
  },
}
