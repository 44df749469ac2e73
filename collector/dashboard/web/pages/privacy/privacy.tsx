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
      lead="What people ask of you: to be left alone, to be forgotten, to be told. All of it is in the audit log."
    >
      <OptOuts />
      <Erasures />
      <ExportPerson />
      <Retention />
    </Page>
  )
}
