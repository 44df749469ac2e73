import { hemAsNumber } from '../../../../schemas/fields.ts'
import {
  type RawOf,
  started,
  type Target,
  type Targets,
  updatedAt,
} from '../../../identity/load/targets.ts'
import { domainValue, hemValue, reasonOf, type Value } from '../../../identity/load/valuesSql.ts'

const nothing = "''"
const labelMax = 200

/** A signal: the interest of a person or a company in a topic on a day, with a strength from the source. */
const signals: Target = {
  table: 'intent_signals',
  fields: ['topic', 'hem', 'email', 'company_domain', 'date', 'score', 'source'],
  required: [['topic'], ['hem', 'email', 'company_domain'], ['date']],
  isScoped: false,
  values: (rawOf) => [
    topicValue(rawOf('topic') ?? nothing),
    ...subjectValues(rawOf),
    dateValue(rawOf('date') ?? nothing),
    scoreValue(rawOf('score') ?? nothing),
    { column: 'source', sql: rawOf('source') ?? nothing },
    updatedAt,
  ],
  copy: {
    table: 'intent_signals_by_person',
    select: (from) =>
      `SELECT toUInt64(hem_number) AS hem_key, hem_number, topic, date, source, score, updated_at FROM ${from}`,
  },
}

const topicValue = (raw: string): Value => ({
  column: 'topic',
  sql: raw,
  wrong: {
    when: `${raw} NOT IN (SELECT topic FROM intent_topics)`,
    reason: reasonOf('topic', raw, 'is not a topic'),
  },
})

/** Exactly one of hem, email and company_domain identifies the person or company of a row. */
function subjectValues(rawOf: RawOf): Value[] {
  const [hem, email, domain] = ['hem', 'email', 'company_domain'].map(
    (name) => rawOf(name) ?? nothing,
  )
  const ofPerson = hemValue(hem!, email!)
  const ofCompany = domainValue(domain!)
  const isOfCompany = `(${domain} != '')`
  return [
    {
      column: 'hem_number',
      sql: `if(${isOfCompany}, 0, ${hemAsNumber(ofPerson.sql)})`,
      wrong: {
        when: `(${isOfCompany} AND (${hem} != '' OR ${email} != ''))`,
        reason:
          "'company_domain: cannot be combined with hem or email, because a signal belongs to a person or to a company'",
      },
    },
    {
      column: 'company_domain',
      sql: `if(${isOfCompany}, ${ofCompany.sql}, '')`,
      wrong: {
        when: `if(${isOfCompany}, ${ofCompany.wrong!.when}, ${ofPerson.wrong!.when})`,
        reason: `if(${isOfCompany}, ${ofCompany.wrong!.reason}, ${ofPerson.wrong!.reason})`,
      },
    },
  ]
}

/** A day that has begun, because a future day would count longer than others. */
const dateValue = (raw: string): Value => {
  const day = `substring(${raw}, 1, 10)`
  // The function accepts 30 February as 2 March.
  const date = `toDate32OrNull(${day})`
  return {
    column: 'date',
    sql: `ifNull(${date}, toDate32('1970-01-01'))`,
    wrong: {
      when: `NOT ifNull(toString(${date}) = ${day} AND ${date} BETWEEN toDate32('1970-01-01') AND toDate32(${started}), false)`,
      reason: reasonOf('date', raw, 'must be a day as YYYY-MM-DD that is not in the future'),
    },
  }
}

const scoreValue = (raw: string): Value => ({
  column: 'score',
  sql: `if(${raw} = '', 100, toUInt8(round(toFloat64OrZero(${raw}))))`,
  wrong: {
    when: `(${raw} != '' AND NOT ifNull(toFloat64OrNull(${raw}) BETWEEN 0 AND 100, false))`,
    reason: reasonOf('score', raw, 'must be a number from 0 to 100'),
  },
})

/** The vocabulary: topics in a tree. */
const topics: Target = {
  table: 'intent_topics',
  fields: ['topic', 'label', 'parent'],
  required: [['topic'], ['label']],
  isScoped: false,
  values: (rawOf) => [
    idValue('topic', rawOf('topic') ?? nothing, false),
    labelValue(rawOf('label') ?? nothing),
    idValue('parent', rawOf('parent') ?? nothing, true),
    updatedAt,
  ],
}

const idValue = (column: string, raw: string, mayLack: boolean): Value => ({
  column,
  sql: raw,
  wrong: {
    when: `NOT (match(${raw}, '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,99}$')${mayLack ? ` OR ${raw} = ''` : ''})`,
    reason: reasonOf(column, raw, 'must be an id of at most 100 letters, digits and _ . : / -'),
  },
})

const labelValue = (raw: string): Value => ({
  column: 'label',
  sql: raw,
  wrong: {
    when: `NOT (lengthUTF8(${raw}) BETWEEN 1 AND ${labelMax})`,
    reason: reasonOf('label', raw, `must have 1 to ${labelMax} characters`),
  },
})

/** The targets of `npx footfall-server intent load` by name. */
export const targets: Targets = { signals, topics }
