import { api } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { Page } from '../../components/page.tsx'
import { useQuery, useRepeat } from '../../useQuery.ts'
import { DeadLetters } from './deadLetters.tsx'
import { Collectors, Jobs, LastBackup, Spool, Stores } from './status.tsx'
import { Tenants } from './tenants.tsx'

const askEveryMs = 5_000

/** The state of the service, for operators. */
export function Operator() {
  const status = useQuery(() => api.getOperatorStatus())
  useRepeat(status.reload, askEveryMs)
  return (
    <Page
      title="Operator"
      lead={`Footfall ${status.value?.version ?? '…'} on Node ${status.value?.node_version ?? '…'}.`}
    >
      <AsyncView query={status} lines={16}>
        {(found) => (
          <>
            <Stores status={found} />
            <Collectors status={found} />
            <Spool status={found} />
            <Jobs status={found} />
            <LastBackup status={found} />
          </>
        )}
      </AsyncView>
      <DeadLetters />
      <Tenants />
    </Page>
  )
}
