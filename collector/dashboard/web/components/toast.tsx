import { signal } from '@preact/signals'

interface Toast {
  text: string
  undo?: (() => Promise<void>) | undefined
}

const shown = signal<Toast | null>(null)
const shownMs = 4_000
/** Long enough to find the button by keyboard. */
const shownWithUndoMs = 12_000
let timer: ReturnType<typeof setTimeout>

/** Shows a message for a while, with a button if `undo` can reverse the action. */
export function toast(text: string, undo?: () => Promise<void>): void {
  shown.value = { text, undo }
  clearTimeout(timer)
  timer = setTimeout(
    () => {
      shown.value = null
    },
    undo ? shownWithUndoMs : shownMs,
  )
}

/** The region for toasts. It is always on the page, because a live region announces only changes. */
export function ToastRegion() {
  return (
    <div class="toast" role="status" aria-live="polite">
      {shown.value && (
        <span>
          {shown.value.text}
          {shown.value.undo && (
            <button
              type="button"
              class="link"
              onClick={() => {
                const undo = shown.value?.undo
                shown.value = null
                undo?.().catch(() =>
                  toast('This could not be undone. Reload the page and try again.'),
                )
              }}
            >
              Undo
            </button>
          )}
        </span>
      )}
    </div>
  )
}
