/** Stands where something is on its way, about as high as that will be, so that nothing jumps when it comes. */
export function Skeleton({ lines = 4 }: { lines?: number | undefined }) {
  return (
    <div class="loading skeleton" role="status">
      <span class="visually-hidden">Loading…</span>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} class="bar" aria-hidden="true" />
      ))}
    </div>
  )
}
