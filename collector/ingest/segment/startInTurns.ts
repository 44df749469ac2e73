import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * Starts work on all items without waiting for earlier ones. After each `ofTurn` items, other work of this process
 * runs. Resolves when all items are done. Rejects with the first error.
 */
export async function startInTurns<T>(
  items: readonly T[],
  ofTurn: number,
  start: (item: T) => Promise<void>,
): Promise<void> {
  const turns: Promise<unknown>[] = []
  for (let from = 0; from < items.length; from += ofTurn) {
    if (from > 0) await nextTurn()
    const turn = Promise.all(items.slice(from, from + ofTurn).map(start))
    // It is awaited below, after the next turns have started.
    turn.catch(() => {})
    turns.push(turn)
  }
  await Promise.all(turns)
}
