const [width, height] = [112, 28]

/** The history of a number, day by day, today last. The text next to it has the same data. */
export function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  const most = Math.max(1, ...values)
  const step = width / Math.max(1, values.length - 1)
  const points = values.map((value, at) => {
    const y = height - 2 - (value / most) * (height - 4)
    return `${(at * step).toFixed(1)} ${y.toFixed(1)}`
  })
  return (
    <svg class="sparkline" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      <path class="area" d={`M0 ${height}L${points.join('L')}L${width} ${height}Z`} />
      <path class="line" d={`M${points.join('L')}`} />
    </svg>
  )
}
