import { useId, useState } from 'preact/hooks'
import { api } from '../api.ts'
import { wholeNumber } from '../format.ts'
import { useQueryOf } from '../useQuery.ts'
import { type Condition, type ConditionOp, conditionOps } from './conditions.ts'
import { groupedFields } from './fieldGroups.ts'
import { labelOfField, labelOfValue } from './labels.ts'
import { daysOf, windowOf } from './periods.ts'

export type CatalogField = Awaited<ReturnType<typeof api.listFields>>['fields'][number]

export const eventName = 'event_data.name'
const propertyPrefix = 'event_data.properties.'
const property = 'property'
/** The offered values: those with the most visitors in the last 30 days. */
const valuesMax = 100

const equalities: readonly ConditionOp[] = ['is', 'isNot']
const comparisons: readonly ConditionOp[] = ['gt', 'gte', 'lt', 'lte']
const operatorsOfType: Readonly<Record<string, readonly ConditionOp[]>> = {
  Boolean: equalities,
  Utf8: [...equalities, 'contains', 'like'],
  Int64: [...equalities, ...comparisons],
  Float64: [...equalities, ...comparisons],
  Timestamp: [...equalities, ...comparisons],
}

/** The operators that have a meaning for a field; all for properties, whose type is unknown. */
const operatorsOf = (fields: readonly CatalogField[], field: string): readonly ConditionOp[] =>
  operatorsOfType[fields.find(({ name }) => name === field)?.data_type ?? ''] ??
  (Object.keys(conditionOps) as ConditionOp[])

/** One condition: a field, an operator, and values from a list with counts, or typed. */
export function ConditionRow({
  projectId,
  fields,
  condition: { field, op, values },
  number,
  change,
  remove,
}: {
  projectId: string
  fields: readonly CatalogField[]
  condition: Condition
  /** The position of the condition, from 1. */
  number: number
  change(condition: Condition): void
  remove: (() => void) | undefined
}) {
  const isProperty = field.startsWith(propertyPrefix)
  const hasList = op === 'is' || op === 'isNot'
  return (
    <fieldset class="condition">
      <legend class="visually-hidden">Condition {number}</legend>
      <FieldChoice
        fields={fields}
        field={field}
        change={(to) =>
          change({ field: to, op: operatorsOf(fields, to).includes(op) ? op : 'is', values: [] })
        }
      />
      {isProperty && (
        <PropertyName
          value={field.slice(propertyPrefix.length)}
          change={(name) => change({ field: propertyPrefix + name, op, values })}
        />
      )}
      <label>
        Operator
        <select
          value={op}
          onChange={({ currentTarget }) => {
            const to = currentTarget.value as ConditionOp
            const isSame = hasList && (to === 'is' || to === 'isNot')
            change({ field, op: to, values: isSame ? values : values.slice(0, 1) })
          }}
        >
          {[...new Set([...operatorsOf(fields, field), op])].map((name) => (
            <option key={name} value={name}>
              {conditionOps[name]}
            </option>
          ))}
        </select>
      </label>
      {hasList ? (
        <Values
          key={field}
          projectId={projectId}
          field={fields.find(({ name }) => name === field)}
          name={field}
          values={values}
          change={(to) => change({ field, op, values: to })}
        />
      ) : (
        <TypedValue
          value={values[0] ?? ''}
          change={(to) => change({ field, op, values: to === '' ? [] : [to] })}
        />
      )}
      {remove && (
        <button type="button" aria-label={`Remove condition ${number}`} onClick={remove}>
          ×
        </button>
      )}
    </fieldset>
  )
}

function FieldChoice({
  fields,
  field,
  change,
}: {
  fields: readonly CatalogField[]
  field: string
  change(field: string): void
}) {
  return (
    <label>
      Field
      <select
        value={field.startsWith(propertyPrefix) ? property : field}
        onChange={({ currentTarget: { value } }) =>
          change(value === property ? propertyPrefix : value)
        }
      >
        {[...groupedFields(fields, field)].map(([group, names]) => (
          <optgroup key={group} label={group}>
            {names.map((name) => (
              <option key={name} value={name}>
                {labelOfField(name)}
              </option>
            ))}
            {group === 'Event' && (
              <>
                <option value={eventName}>{labelOfField(eventName)}</option>
                <option value={property}>Property…</option>
              </>
            )}
          </optgroup>
        ))}
      </select>
    </label>
  )
}

function PropertyName({ value, change }: { value: string; change(name: string): void }) {
  return (
    <label>
      Property
      <input
        type="text"
        value={value}
        maxLength={100}
        spellcheck={false}
        autocomplete="off"
        onInput={({ currentTarget }) => change(currentTarget.value.replace(/[,:]/g, ''))}
      />
    </label>
  )
}

function TypedValue({ value, change }: { value: string; change(value: string): void }) {
  const id = useId()
  return (
    <label for={`${id}-value`}>
      Value
      <input
        id={`${id}-value`}
        type="text"
        value={value}
        maxLength={2_000}
        spellcheck={false}
        autocomplete="off"
        required
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
    </label>
  )
}

interface Offer {
  value: string
  visitors: number | null
}

/** Reads the values of a field with the most visitors, except values that a list cannot contain. */
async function readOffers(
  projectId: string,
  name: string,
  field: CatalogField | undefined,
): Promise<Offer[]> {
  if (field?.values) return field.values.map((value) => ({ value, visitors: null }))
  const isGroupable =
    field?.groupable || name === eventName || /^event_data\.properties\.\S/.test(name)
  if (!isGroupable) return []
  const { breakdowns } = await api.getAnalyticsBreakdown({
    project_id: projectId,
    ...windowOf(daysOf('days30')),
    dimensions: name,
    limit: valuesMax,
  })
  return Object.values(breakdowns)[0]!.values.flatMap(({ value, visitors }) =>
    value === null || value.includes('|') ? [] : [{ value, visitors }],
  )
}

/** Values to tick, with how many visitors each had, and one to type. */
function Values({
  projectId,
  field,
  name,
  values,
  change,
}: {
  projectId: string
  field: CatalogField | undefined
  name: string
  values: readonly string[]
  change(values: readonly string[]): void
}) {
  const id = useId()
  const [typed, setTyped] = useState('')
  const [chosen, setChosen] = useState(values)
  // Earlier choices come first, whether or not they are offered.
  const [first] = useState(values)
  const offers = useQueryOf(name, () =>
    // For a field without a list of values the user types one.
    readOffers(projectId, name, field).catch((): Offer[] => []),
  )
  const put = (to: readonly string[], text: string) => {
    setChosen(to)
    setTyped(text)
    change(text === '' || to.includes(text) ? to : [...to, text])
  }
  const wanted = typed.toLowerCase()
  const offered = offers.isStale ? [] : (offers.value ?? [])
  const all = [
    ...first.map(
      (value): Offer => offered.find((offer) => offer.value === value) ?? { value, visitors: null },
    ),
    ...offered.filter(({ value }) => !first.includes(value)),
  ]
  const found = all.filter(
    ({ value }) =>
      chosen.includes(value) ||
      labelOfValue(name, value).toLowerCase().includes(wanted) ||
      value.toLowerCase().includes(wanted),
  )
  return (
    <div class="condition-values">
      <label for={`${id}-value`}>Value</label>
      <input
        id={`${id}-value`}
        type="text"
        value={typed}
        maxLength={2_000}
        placeholder={all.length > 0 ? 'Type or choose' : ''}
        spellcheck={false}
        autocomplete="off"
        required={chosen.length === 0}
        onInput={({ currentTarget: { value } }) => put(chosen, value)}
      />
      {found.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards must reach what scrolls.
        // biome-ignore lint/a11y/useSemanticElements: a fieldset does not scroll in every browser.
        <div class="offers" role="group" aria-label="Values" tabIndex={0}>
          {found.map(({ value, visitors }) => (
            <label key={value} class="option">
              <input
                type="checkbox"
                checked={chosen.includes(value) || value === typed}
                onChange={({ currentTarget: { checked } }) =>
                  put(checked ? [...chosen, value] : chosen.filter((other) => other !== value), '')
                }
              />
              <span>{labelOfValue(name, value)}</span>
              {visitors !== null && <span class="number">{wholeNumber(visitors)}</span>}
            </label>
          ))}
        </div>
      )}
    </div>
  )
}
