/** The buttons of a long form, visible while there are unsaved changes. */
export function SaveBar({
  count,
  action,
  isBusy,
  discard,
}: {
  /** Number of changed fields. */
  count: number
  action: string
  isBusy: boolean
  discard(): void
}) {
  return (
    <div class={count > 0 ? 'save-bar shown' : 'save-bar'}>
      <p role="status">
        {count > 0 && (count === 1 ? '1 unsaved change' : `${count} unsaved changes`)}
      </p>
      <div class="actions">
        <button type="button" onClick={discard}>
          Discard
        </button>
        <button type="submit" class="primary" aria-disabled={isBusy}>
          {isBusy ? 'Please wait…' : action}
        </button>
      </div>
    </div>
  )
}
