import { signal } from '@preact/signals'

const shown = signal('')
const shownMs = 4_000
let timer: ReturnType<typeof setTimeout>

/** Tells the reader that something is done: shown for a while, and read out by screen readers. */
export function toast(text: string): void {
  shown.value = text
  clearTimeout(timer)
  timer = setTimeout(() => {
    shown.value = ''
  }, shownMs)
}

/** Where toasts are shown. Always on the page: a live region only tells of changes. */
export function ToastRegion() {
  return (
    <div class="toast" role="status" aria-live="polite">
      {shown.value && <span>{shown.value}</span>}
    </div>
  )
}
