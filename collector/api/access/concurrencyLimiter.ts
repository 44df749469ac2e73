/** How many operations of one owner may run at once, how many may wait, and for how long. */
export interface ConcurrencyLimits {
  atOnce: number
  waitingMax: number
  waitMs: number
}

/** Admits at most `atOnce` operations of each owner; others wait in order of arrival. */
export class ConcurrencyLimiter {
  readonly #limits: ConcurrencyLimits
  readonly #owners = new Map<string, { inside: number; waiting: Set<() => void> }>()

  constructor(limits: ConcurrencyLimits) {
    this.#limits = limits
  }

  /**
   * Resolves with true if the caller was admitted and must `leave`. Resolves with false if too many callers
   * wait, the wait was too long, or `signal` was aborted.
   */
  async enter(owner: string, signal: AbortSignal): Promise<boolean> {
    const { atOnce, waitingMax, waitMs } = this.#limits
    let state = this.#owners.get(owner)
    if (!state) {
      state = { inside: 0, waiting: new Set() }
      this.#owners.set(owner, state)
    }
    const { waiting } = state
    if (state.inside < atOnce) {
      state.inside++
      return true
    }
    if (waiting.size >= waitingMax || signal.aborted) return false
    return new Promise((resolve) => {
      const end = (isIn: boolean) => {
        waiting.delete(letIn)
        clearTimeout(timer)
        signal.removeEventListener('abort', giveUp)
        resolve(isIn)
      }
      const letIn = () => end(true)
      const giveUp = () => end(false)
      const timer = setTimeout(giveUp, waitMs)
      signal.addEventListener('abort', giveUp)
      waiting.add(letIn)
    })
  }

  /** Admits the caller that has waited longest. */
  leave(owner: string): void {
    const state = this.#owners.get(owner)!
    const [next] = state.waiting
    if (next) next()
    else if (--state.inside === 0) this.#owners.delete(owner)
  }
}
