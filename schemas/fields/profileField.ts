import type { DataType, Field, Group, Tier } from './field.ts'

/**
 * Makes the fields of one group of a profile, each by the kind of its value. Nobody knows everything of anybody, so
 * all of them are nullable.
 */
export function profileFields(group: Group, tier: Tier) {
  const make =
    (columnType: string, dataType: DataType, more: Pick<Field, 'isAddress'> = {}) =>
    (name: string, description: string, values?: readonly string[]): Field => ({
      name,
      columnType,
      dataType,
      nullable: true,
      tier,
      group,
      description,
      ...more,
      ...(values && { values }),
    })
  return {
    /** Many different texts. */
    text: make('Nullable(String) CODEC(ZSTD(1))', 'Utf8'),
    /** An e-mail address. */
    address: make('Nullable(String) CODEC(ZSTD(1))', 'Utf8', { isAddress: true }),
    /** One of few texts; of a fixed list, where one is given. */
    label: make('LowCardinality(Nullable(String))', 'Utf8'),
    integer: make('Nullable(Int64) CODEC(ZSTD(1))', 'Int64'),
    number: make('Nullable(Float64) CODEC(ZSTD(1))', 'Float64'),
    flag: make('Nullable(Bool)', 'Boolean'),
    time: make("Nullable(DateTime64(3, 'UTC')) CODEC(ZSTD(1))", 'Timestamp'),
  }
}
