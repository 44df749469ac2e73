import { Page } from '../../components/page.tsx'
import { Erasures } from './erasures.tsx'
import { ExportPerson } from './exportPerson.tsx'
import { OptOuts } from './optOuts.tsx'
import { Retention } from './retention.tsx'

/** Requests of data subjects, and the retention of events. */
export function Privacy() {
  return (
    <Page
      title="Privacy"
      lead="Opt-outs, erasures and access requests of people. The audit log records all of them."
    >
      <OptOuts />
      <Erasures />
      <ExportPerson />
      <Retention />
    </Page>
  )
}
