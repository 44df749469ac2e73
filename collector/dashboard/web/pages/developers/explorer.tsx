import { useState } from 'preact/hooks'
import type { OperationId } from '../../../../api/client/index.ts'
import { requestFor } from '../../../../api/client/index.ts'
import { ownProjects } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { CodeSamples } from '../../components/codeSamples.tsx'
import { Select, TextField } from '../../components/fields.tsx'
import { Form, type Values } from '../../components/form.tsx'
import { Page, Section } from '../../components/page.tsx'
import { useSession } from '../../session.ts'
import { setUrl, urlValue } from '../../urlState.ts'
import { useQuery } from '../../useQuery.ts'
import { type Answered, AnswerShown, askAgain } from './answer.tsx'
import { type Operation, readOperations } from './operations.ts'

/** Most characters of a hint. */
const hintMax = 120
const operationDefault = 'countEvents'

/** Any read of the API, built from the API document, and sent with the session of the user. */
export function Explorer() {
  const found = useQuery(async () => {
    const [operations, projects] = await Promise.all([readOperations(), ownProjects()])
    return { operations, projectId: projects[0]?.project_id ?? '' }
  })
  return (
    <Page
      title="API explorer"
      lead={
        <>
          Every read operation of the API, called with your account. The{' '}
          <a href="/docs">API documentation</a> describes operations that write.
        </>
      }
    >
      <AsyncView query={found} lines={8}>
        {({ operations, projectId }) => {
          const chosen =
            operations.find(({ id }) => id === urlValue('operation')) ??
            operations.find(({ id }) => id === operationDefault)!
          return (
            <>
              <div class="toolbar">
                <label>
                  Operation{' '}
                  <select
                    value={chosen.id}
                    onChange={({ currentTarget: { value } }) => setUrl({ operation: value })}
                  >
                    {[...new Set(operations.map(({ tag }) => tag))].map((tag) => (
                      <optgroup key={tag} label={tag}>
                        {operations
                          .filter((operation) => operation.tag === tag)
                          .map(({ id, summary }) => (
                            <option key={id} value={id} selected={id === chosen.id}>
                              {summary}
                            </option>
                          ))}
                      </optgroup>
                    ))}
                  </select>
                </label>
              </div>
              {/* Another operation has other fields. */}
              <Chosen key={chosen.id} operation={chosen} projectId={projectId} />
            </>
          )
        }}
      </AsyncView>
    </Page>
  )
}

function Chosen({ operation, projectId }: { operation: Operation; projectId: string }) {
  const { organization } = useSession()
  const initial: Values = Object.fromEntries(
    operation.parameters.map(({ name, isRequired }) => [
      name,
      urlValue(name) || (name === 'project_id' || (isRequired && name === 'id') ? projectId : ''),
    ]),
  )
  const [values, setValues] = useState(initial)
  const [answered, setAnswered] = useState<Answered | null>(null)
  const params = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
  const isWhole = operation.parameters.every(({ name, isRequired }) => !isRequired || params[name])
  const id = operation.id as OperationId
  return (
    <>
      <Section
        title={operation.summary}
        lead={
          <>
            <code>GET {operation.path}</code>
            <br />
            {operation.description}
          </>
        }
      >
        <Form
          values={initial}
          edited={setValues}
          action={operation.isCharged ? 'Send, billed' : 'Send'}
          submit={async () =>
            setAnswered(await askAgain(requestFor(id, params).path, organization))
          }
        >
          {operation.isCharged && (
            <p class="hint">Billed. You pay only for the records in the response.</p>
          )}
          <div class="field-grid">
            {operation.parameters.map(({ name, isRequired, description, choices }) =>
              choices ? (
                <Select
                  key={name}
                  name={name}
                  label={name}
                  hint={firstSentence(description)}
                  options={{
                    ...(!isRequired && { '': '' }),
                    ...Object.fromEntries(choices.map((choice) => [choice, choice])),
                  }}
                />
              ) : (
                <TextField
                  key={name}
                  name={name}
                  label={name}
                  hint={firstSentence(description)}
                  required={isRequired}
                  maxLength={10_000}
                  autocomplete="off"
                />
              ),
            )}
          </div>
        </Form>
        {answered && <AnswerShown answered={answered} />}
      </Section>
      {isWhole && (
        <Section title="The request as code">
          <CodeSamples set="explorer" call={{ operation: id, params }} />
        </Section>
      )}
    </>
  )
}

/** Returns the part of a description that fits under a field; the API documentation has all of it. */
function firstSentence(text: string): string {
  const [sentence] = text.replaceAll('`', '').split(/(?<=\.)\s/, 1)
  return sentence!.length > hintMax ? `${sentence!.slice(0, hintMax)}…` : sentence!
}
