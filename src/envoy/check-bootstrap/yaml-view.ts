/** A place in an Envoy configuration: what stands there, where it is, and the way to what lies below. */
import { formatPath, type FieldPath } from "../../shared/config/config-error.ts";
import type { YamlSource } from "../../shared/config/load/yaml-source.ts";
import { toCamelCase } from "./field-names.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Never throws: what is missing is a view of `undefined`, whose line is that of the nearest place around it. */
export class YamlView {
  readonly value: unknown;
  readonly #source: Pick<YamlSource, "lineOf">;
  readonly #path: FieldPath;

  constructor(source: Pick<YamlSource, "lineOf">, value: unknown, path: FieldPath) {
    this.#source = source;
    this.value = value;
    this.#path = path;
  }

  /** "static_resources.listeners[0].filter_chains[0]". */
  get path(): string {
    return formatPath(this.#path);
  }

  get line(): number | undefined {
    return this.#source.lineOf(this.#path);
  }

  get exists(): boolean {
    return this.value !== undefined && this.value !== null;
  }

  /** Down by field names, as Envoy reads them: `failure_mode_allow` and `failureModeAllow` are one. */
  at(...steps: readonly (string | number)[]): YamlView {
    return steps.reduce<YamlView>((view, step) => view.#child(step), this);
  }

  /** The members of a list; none where there is no list. */
  items(): YamlView[] {
    return Array.isArray(this.value) ? this.value.map((_, index) => this.#child(index)) : [];
  }

  /** Names and values of a mapping; none where there is none. */
  entries(): [string, YamlView][] {
    return isFields(this.value) ? Object.keys(this.value).map((name) => [name, this.#child(name)]) : [];
  }

  /** The text, or "" where there is none. */
  get text(): string {
    return typeof this.value === "string" ? this.value : "";
  }

  /** A whole number, which protobuf's JSON may write as a string too; null where there is none. */
  get number(): number | null {
    const { value } = this;
    if (typeof value === "number") return value;
    return typeof value === "string" && /^\d+$/.test(value) ? Number(value) : null;
  }

  /** Of a duration as "0.25s"; null where there is none. */
  get seconds(): number | null {
    const found = /^(\d+(?:\.\d+)?)s$/.exec(this.text)?.[1];
    return found === undefined ? null : Number(found);
  }

  /** The last part of `typed_config`'s type: "ext_proc.v3.ExternalProcessor". */
  get typeName(): string {
    const type = this.at("typed_config", "@type").text;
    return /([^./]+\.v\d+\.\w+)$/.exec(type)?.[1] ?? "";
  }

  #child(step: string | number): YamlView {
    const { value } = this;
    if (typeof step === "number") {
      return new YamlView(this.#source, Array.isArray(value) ? value[step] : undefined, [
        ...this.#path,
        step,
      ]);
    }
    const fields = isFields(value) ? value : {};
    const camel = toCamelCase(step);
    const name = !(step in fields) && camel in fields ? camel : step;
    return new YamlView(this.#source, fields[name], [...this.#path, name]);
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
