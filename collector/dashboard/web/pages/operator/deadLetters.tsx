import { api } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { DataTable } from '../../components/dataTable.tsx'
import { Section } from '../../components/page.tsx'
import { toast } from '../../components/toast.tsx'
import { useQuery } from '../../useQuery.ts'
import { count } from './amounts.ts'

/** Rows that ClickHouse refused, to replay after the cause was fixed. */
export function DeadLetters() {
  const letters = useQuery(() => api.listDeadLetters())
  const replay = async () => {
    const { replayed, refused } = await api.replayDeadLetters()
    toast(`${replayed} replayed, ${refused} rejected again`)
    await letters.reload()
  }
  return (
    <Section
      title="Dead letters"
      lead="Rows on this machine that ClickHouse rejected. Fix the cause, then replay them."
      actions={
        (letters.value?.total ?? 0) > 0 && (
          <button type="button" onClick={replay}>
            Replay
          </button>
        )
      }
    >
      <AsyncView query={letters}>
        {({ total, dead_letters }) => (
          <>
            {total > 0 && (
              <p class="hint">
                {count(total)} in total
                {total > dead_letters.length && `, the first ${dead_letters.length} here`}.
              </p>
            )}
            <DataTable
              caption="Dead letters"
              prefix="letters_"
              columns={[
                { name: 'table', label: 'Table', value: ({ table }) => table },
                { name: 'reason', label: 'Reason', value: ({ reason }) => reason },
                {
                  name: 'row',
                  label: 'Row',
                  value: ({ row }) => row,
                  show: ({ row }) => (
                    <details>
                      <summary>Row</summary>
                      <code>{row}</code>
                    </details>
                  ),
                },
              ]}
              rows={dead_letters}
              keyOf={({ row }) => row}
              empty={<p>None. ClickHouse accepted every row.</p>}
            />
          </>
        )}
      </AsyncView>
    </Section>
  )
}
