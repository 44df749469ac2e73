/**
 * The inline part of a page: it keeps calls made before the script loads, which then replays them in order.
 */
export const stub =
  '!function(w){(w.footfall||0).call||(w.footfall=function(){(w.footfall.q=w.footfall.q||[]).push(arguments)})}(window)'

/**
 * The complete snippet, for the head of every page. `integrity` belongs to a versioned URL; `nonce` is the
 * page's own, for its Content-Security-Policy. Without `inline` the page has no inline script, and only calls
 * after the script has loaded count.
 */
export const snippet = (scriptUrl, { integrity, nonce, inline = true } = {}) => {
  const allowed = nonce ? ` nonce="${nonce}"` : ''
  const pinned = integrity ? ` integrity="${integrity}" crossorigin` : ''
  const kept = inline ? `<script${allowed}>${stub}</script>\n` : ''
  return `${kept}<script${allowed} async src="${scriptUrl}"${pinned}></script>`
}
