/** How often the page has done something visible: a click after which it does nothing is a dead one. */
export let reactions = 0

export const reacted = (): void => {
  reactions++
}

const changes = new MutationObserver(reacted)

export const watchReactions = (): void =>
  changes.observe(document, { subtree: true, childList: true, attributes: true, characterData: true })

/** Watching costs the page a little with each change: it lasts from a click until that is encoded. */
export const restReactions = (): void => changes.disconnect()
