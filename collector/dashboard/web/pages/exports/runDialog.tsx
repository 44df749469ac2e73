import { api, type Export } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Form } from '../../components/form.tsx'
import { costOf, usePrices } from '../../components/prices.ts'
import { useQuery } from '../../useQuery.ts'

/** Meter of exports of lists. Audiences name their own. */
const listMeter = 'audience'

/** Shows what a run of an export costs at most, before it is started. */
export function RunDialog({
  export: { name, project_id, audience_id, list_id },
  start,
  close,
}: {
  export: Export
  start(): Promise<void>
  close(): void
}) {
  const prices = usePrices()
  const source = useQuery(async () => {
    if (audience_id) {
      const { audience } = await api.getAudience({ project_id, audience_id })
      return { meter: audience.meter, count: audience.count }
    }
    const { list } = await api.getList({ project_id, list_id: list_id! })
    return { meter: listMeter, count: list.count }
  })
  return (
    <Dialog title={`Run “${name}” now?`} close={close}>
      <Form
        submit={async () => {
          close()
          await start()
        }}
        action="Start the run"
        cancel={close}
      >
        <AsyncView query={source}>
          {({ meter, count }) => (
            <p>
              {prices.value && `${costOf(prices.value, meter, count)}. `}
              {count === null && 'The number of records is known after the run. '}
              Records that were charged today are free.
            </p>
          )}
        </AsyncView>
      </Form>
    </Dialog>
  )
}
