/** What a page has inline: calls made before the script arrives are kept, and replayed in their order. */
export const stub =
  '!function(w){(w.footfall||0).call||(w.footfall=function(){(w.footfall.q=w.footfall.q||[]).push(arguments)})}(window)'

/**
 * The whole snippet, for the head of every page. `integrity` goes with a versioned URL; `nonce` is the page's own, for
 * its Content-Security-Policy; without `inline` nothing stands in the page itself, and only calls made after the script
 * has come are heard.
 */
export const snippet = (scriptUrl, { integrity, nonce, inline = true } = {}) => {
  const allowed = nonce ? ` nonce="${nonce}"` : ''
  const pinned = integrity ? ` integrity="${integrity}" crossorigin` : ''
  const kept = inline ? `<script${allowed}>${stub}</script>\n` : ''
  return `${kept}<script${allowed} async src="${scriptUrl}"${pinned}></script>`
}
