/**
 * A site's own service worker beside the pixel: what a page sends has to take the browser's own way, because a request
 * that outlives its page does not outlive a worker's answer, and a cached script would keep old settings. So: no
 * respondWith for anything but the site's own pages and files.
 */
const cacheName = 'pages-1'

addEventListener('fetch', (event) => {
  const { request } = event
  const isOwn = new URL(request.url).origin === location.origin
  // Where the collector is behind a path of this site: && !new URL(request.url).pathname.startsWith('/f3a9c2/')
  if (request.method === 'GET' && isOwn) event.respondWith(networkFirst(request))
})

async function networkFirst(request) {
  const cache = await caches.open(cacheName)
  try {
    const answer = await fetch(request)
    if (answer.ok) await cache.put(request, answer.clone())
    return answer
  } catch (error) {
    const kept = await cache.match(request)
    if (kept) return kept
    throw error
  }
}

addEventListener('install', () => skipWaiting())
addEventListener('activate', (event) => event.waitUntil(clients.claim()))
