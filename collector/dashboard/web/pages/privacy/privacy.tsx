import { Page } from '../../components/page.tsx'
import { Erasures } from './erasures.tsx'
import { ExportPerson } from './exportPerson.tsx'
import { OptOuts } from './optOuts.tsx'
import { Retention } from './retention.tsx'

/** What people may ask of those who collect, and how long events are kept. */
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
