import { api } from '../../api.ts'
import { costOf, usePrices } from '../../components/prices.ts'
import { counted } from '../../format.ts'
import { useQueryOf } from '../../useQuery.ts'

/** How many events an archive copies at once because they are older, and their price. Then the price of further ones. */
export function BacklogPrice({ projectId, startMs }: { projectId: string; startMs: number }) {
  const prices = usePrices()
  const asked = useQueryOf(String(startMs), async () =>
    startMs < Date.now()
      ? (await api.countEvents({ project_id: projectId, start_ms: startMs })).total
      : 0,
  )
  if (!prices.value) return null
  const total = asked.isStale || asked.error ? undefined : asked.value
  return (
    <div role="status">
      {total !== undefined && (
        <p>
          {counted(total, 'event')} since then: {costOf(prices.value, 'events', total)}.
        </p>
      )}
      <p class="hint">Each event is charged once: {costOf(prices.value, 'events', null)}.</p>
    </div>
  )
}
