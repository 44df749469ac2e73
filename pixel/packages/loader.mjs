/** The function of the pixel. It keeps calls until the script arrives, as the snippet of a page does. */
export function footfall(...call) {
  if (typeof window === 'undefined') return
  stub()(...call)
}

/** Loads the script of a pixel, once per page; does nothing on a server. Returns `footfall`. */
export function load({ src, nonce, integrity }) {
  if (typeof window === 'undefined') return footfall
  stub()
  const isLoaded = [...document.querySelectorAll('script[src]')].some(
    (script) => script.getAttribute('src') === src,
  )
  if (isLoaded) return footfall
  const script = document.createElement('script')
  script.async = true
  if (nonce) script.nonce = nonce
  if (integrity) {
    script.integrity = integrity
    script.crossOrigin = 'anonymous'
  }
  script.src = src
  document.head.append(script)
  return footfall
}

function stub() {
  window.footfall ??= (...call) => {
    window.footfall.q ??= []
    window.footfall.q.push(call)
  }
  return window.footfall
}
