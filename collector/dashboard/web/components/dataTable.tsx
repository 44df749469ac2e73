import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Link } from '../router.tsx'
import { setUrl, urlValue } from '../urlState.ts'
import { MoreButton } from './moreButton.tsx'

/** Texts of so many columns wrap on a wide screen, instead of hiding the last column. */
const fewColumns = 8

/** Values of so few characters do not wrap: words would break, and flags would stand above their country. */
const shortChars = 15

/** A column of a table; `value` is used for sorting and searching, and shown if there is no `show`. */
export interface Column<Row> {
  name: string
  label: string
  value(row: Row): string | number | null
  show?(row: Row): ComponentChildren
  isNumber?: boolean
}

/**
 * A table of loaded rows that can be sorted and searched. The address has the column in `sort` and the search text in
 * `q`; `prefix` tells several tables of a page apart.
 */
export function DataTable<Row>({
  caption,
  prefix = '',
  columns,
  rows,
  keyOf,
  open,
  href,
  canSearch = true,
  pageRows = Number.POSITIVE_INFINITY,
  empty,
}: {
  caption: string
  prefix?: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf(row: Row): string
  /** Opens the details of a row on this page, through its first column. */
  open?(row: Row): void
  /** The page of a row, which its first column links to. */
  href?(row: Row): string
  canSearch?: boolean
  /** Number of rows at first, and of further rows for each click. */
  pageRows?: number
  /** Shown when there are no rows. */
  empty?: ComponentChildren
}) {
  const [sortBy, search] = [`${prefix}sort`, `${prefix}q`]
  const sort = urlValue(sortBy)
  const q = canSearch ? urlValue(search) : ''
  const found = sorted(matching(rows, columns, q), columns, sort)
  const [shownRows, setShownRows] = useState(pageRows)
  if (rows.length === 0 && empty) return <div class="empty">{empty}</div>
  return (
    <>
      {canSearch && (rows.length > 5 || q !== '') && (
        <SearchField
          caption={caption}
          value={q}
          change={(to) => setUrl({ [search]: to }, { replace: true })}
        />
      )}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset does not scroll in every browser. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard. */}
      <div class="scroll" role="group" aria-label={caption} tabIndex={0}>
        <table class={columns.length <= fewColumns ? 'data few' : 'data'}>
          <caption class="visually-hidden">{caption}</caption>
          <thead>
            <tr>
              {columns.map(({ name, label, isNumber }) => (
                <HeadCell
                  key={name}
                  name={name}
                  label={label}
                  isNumber={isNumber}
                  sort={sort}
                  change={(to) => setUrl({ [sortBy]: to })}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {found.slice(0, shownRows).map((row) => (
              <DataRow key={keyOf(row)} row={row} columns={columns} open={open} href={href} />
            ))}
          </tbody>
        </table>
      </div>
      <MoreButton
        more={found.length > shownRows && (() => setShownRows((shown) => shown + pageRows))}
      />
      {found.length === 0 && rows.length > 0 && (
        <p class="hint">
          None of the {rows.length} rows contains “{q}”.
        </p>
      )}
    </>
  )
}

/** The head of a column. Clicks sort in ascending order, then in descending order, then not at all. */
function HeadCell({
  name,
  label,
  isNumber,
  sort,
  change,
}: {
  name: string
  label: string
  isNumber: boolean | undefined
  sort: string
  change(sort: string): void
}) {
  return (
    <th
      scope="col"
      class={isNumber ? 'number' : ''}
      aria-sort={sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : 'none'}
    >
      <button
        type="button"
        onClick={() => change(sort === name ? `-${name}` : sort === `-${name}` ? '' : name)}
      >
        {label}
        <span class="arrow" aria-hidden="true">
          {sort === name ? '↑' : sort === `-${name}` ? '↓' : ''}
        </span>
      </button>
    </th>
  )
}

function SearchField({
  caption,
  value,
  change,
}: {
  caption: string
  value: string
  change(text: string): void
}) {
  return (
    <input
      class="search"
      type="search"
      aria-label={`Search ${caption.toLowerCase()}`}
      placeholder="Search these rows"
      value={value}
      onInput={({ currentTarget }) => change(currentTarget.value)}
    />
  )
}

function DataRow<Row>({
  row,
  columns,
  open,
  href,
}: {
  row: Row
  columns: readonly Column<Row>[]
  open: ((row: Row) => void) | undefined
  href: ((row: Row) => string) | undefined
}) {
  return (
    <tr>
      {columns.map((column, index) => (
        <td
          key={column.name}
          class={column.isNumber ? 'number' : isShort(column, row) ? 'short' : ''}
        >
          {index === 0 && href ? (
            <Link href={href(row)}>{shown(column, row)}</Link>
          ) : index === 0 && open ? (
            <button type="button" class="link" onClick={() => open(row)}>
              {shown(column, row)}
            </button>
          ) : (
            shown(column, row)
          )}
        </td>
      ))}
    </tr>
  )
}

const isShort = <Row,>({ value }: Column<Row>, row: Row): boolean =>
  String(value(row) ?? '').length <= shortChars

const shown = <Row,>({ show, value }: Column<Row>, row: Row): ComponentChildren =>
  show ? show(row) : (value(row) ?? <span class="nothing">–</span>)

function matching<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  q: string,
): readonly Row[] {
  const wanted = q.trim().toLowerCase()
  if (wanted === '') return rows
  return rows.filter((row) =>
    columns.some(({ value }) =>
      String(value(row) ?? '')
        .toLowerCase()
        .includes(wanted),
    ),
  )
}

function sorted<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sort: string,
): readonly Row[] {
  const column = columns.find(({ name }) => name === sort.replace(/^-/, ''))
  if (!column) return rows
  const direction = sort.startsWith('-') ? -1 : 1
  return rows.toSorted((one, other) => direction * compare(column.value(one), column.value(other)))
}

/** In ascending order, rows without a value come last. */
function compare(one: string | number | null, other: string | number | null): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null)
  return typeof one === 'number' && typeof other === 'number'
    ? one - other
    : String(one).localeCompare(String(other), undefined, { numeric: true })
}
