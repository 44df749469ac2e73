import { api } from '../../api.ts'
import { records } from '../../components/amounts.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { DataTable } from '../../components/dataTable.tsx'
import { Page, Section } from '../../components/page.tsx'
import { dateText } from '../../format.ts'
import { isOrganizationAdmin, useSession } from '../../session.ts'
import { setUrl, urlValue } from '../../urlState.ts'
import { useQuery } from '../../useQuery.ts'
import { IntentPreview } from './intentPreview.tsx'

const days = 30
const dayMs = 86_400_000

interface Topic {
  topic: string
  label: string
  signals: number
  days: number
  latest: string
}

/** The topics of the last days with the most signals, and their names. */
async function readTopics(): Promise<Topic[]> {
  const start_date = new Date(Date.now() - (days - 1) * dayMs).toISOString().slice(0, 10)
  const [{ rows }, { values }] = await Promise.all([
    api.getIntentDailyTopicStats({ start_date }),
    api.getTaxonomy({ name: 'topics' }),
  ])
  const labels = new Map(values.map(({ value, label }) => [value, label]))
  const topics = new Map<string, Topic>()
  for (const { topic, date, signals } of rows) {
    const known = topics.get(topic)
    topics.set(topic, {
      topic,
      label: labels.get(topic) ?? topic,
      signals: (known?.signals ?? 0) + signals,
      days: (known?.days ?? 0) + 1,
      latest: known && known.latest > date ? known.latest : date,
    })
  }
  return [...topics.values()].sort((one, other) => other.signals - one.signals)
}

/** The page of topics, with the free preview of interested people and companies. */
export function Intent({ projectId }: { projectId: string }) {
  const session = useSession()
  return (
    <Page
      title="Intent"
      lead="Topics that people and companies are interested in. Topics and previews are free."
    >
      <div class="wide">
        {isOrganizationAdmin(session) ? (
          <Topics projectId={projectId} />
        ) : (
          <div class="empty">
            <h2>For admins of the organization</h2>
            <p>Interest belongs to the organization. Ask an owner or an admin to look here.</p>
          </div>
        )}
      </div>
    </Page>
  )
}

function Topics({ projectId }: { projectId: string }) {
  const found = useQuery(readTopics)
  const chosen = urlValue('topic')
  return (
    <AsyncView query={found} lines={10}>
      {(topics) =>
        topics.length === 0 ? (
          <div class="empty">
            <h2>No topics yet</h2>
            <p>
              No signals in the last {days} days. Signals come from the operator’s intent data and
              from rules that assign topics to your own events.
            </p>
          </div>
        ) : (
          <>
            {chosen && (
              <IntentPreview
                key={chosen}
                projectId={projectId}
                topic={chosen}
                label={topics.find(({ topic }) => topic === chosen)?.label ?? chosen}
              />
            )}
            {chosen ? (
              <Section title="Topics">
                <TopicsTable topics={topics} />
              </Section>
            ) : (
              <TopicsTable topics={topics} />
            )}
          </>
        )
      }
    </AsyncView>
  )
}

const TopicsTable = ({ topics }: { topics: readonly Topic[] }) => (
  <DataTable
    caption={`Topics of the last ${days} days`}
    columns={[
      { name: 'topic', label: 'Topic', value: ({ label }: Topic) => label },
      {
        name: 'signals',
        label: 'Signals',
        isNumber: true,
        value: ({ signals }: Topic) => signals,
        show: ({ signals }: Topic) => records(signals),
      },
      {
        name: 'days',
        label: 'Days with signals',
        isNumber: true,
        value: ({ days }: Topic) => days,
      },
      {
        name: 'latest',
        label: 'Latest',
        value: ({ latest }: Topic) => latest,
        show: ({ latest }: Topic) => dateText(latest),
      },
    ]}
    rows={topics}
    keyOf={({ topic }) => topic}
    open={({ topic }) => setUrl({ topic })}
  />
)
