import { createStore } from '../store.ts'

const said = createStore('')
const shownMs = 4_000
let timer: ReturnType<typeof setTimeout>

/** Tells the reader that something is done: shown for a while, and read out by screen readers. */
export function say(text: string): void {
  said.set(text)
  clearTimeout(timer)
  timer = setTimeout(() => said.set(''), shownMs)
}

/** Where `say` is shown. Always on the page: a live region only tells of changes. */
export function Said() {
  const text = said.use()
  return (
    <div class="said" role="status" aria-live="polite">
      {text && <span>{text}</span>}
    </div>
  )
}
