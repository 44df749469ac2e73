/** What a page has inline: calls made before the script arrives are kept, and replayed in their order. */
export const stub =
  '!function(w){w.footfall=w.footfall||function(){(w.footfall.q=w.footfall.q||[]).push(arguments)}}(window)'

/** The whole snippet, for the head of every page. */
export const snippet = (scriptUrl) => `<script>${stub}</script>\n<script async src="${scriptUrl}"></script>`
