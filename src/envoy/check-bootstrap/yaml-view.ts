/** View of a place in an Envoy configuration: its value, its line, and navigation to inner places. */
import { formatPath, type FieldPath } from "../../shared/config/config-error.ts";
import type { YamlSource } from "../../shared/config/load/yaml-source.ts";
import { toCamelCase } from "./field-names.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Never throws: a missing place is a view of `undefined` with the line of the nearest enclosing place. */
export class YamlView {
  readonly value: unknown;
  readonly #source: Pick<YamlSource, "lineOf">;
  readonly #path: FieldPath;

  constructor(source: Pick<YamlSource, "lineOf">, value: unknown, path: FieldPath) {
    this.#source = source;
    this.value = value;
    this.#path = path;
  }

  /** Path such as "static_resources.listeners[0].filter_chains[0]". */
  get path(): string {
    return formatPath(this.#path);
  }

  get line(): number | undefined {
    return this.#source.lineOf(this.#path);
  }

  get exists(): boolean {
    return this.value !== undefined && this.value !== null;
  }

  /** Navigates by field names, in either spelling: `failure_mode_allow` and `failureModeAllow` are the same. */
  at(...steps: readonly (string | number)[]): YamlView {
    return steps.reduce<YamlView>((view, step) => view.#child(step), this);
  }

  /** Returns the members of a list; empty if it is not one. */
  items(): YamlView[] {
    return Array.isArray(this.value) ? this.value.map((_, index) => this.#child(index)) : [];
  }

  /** Returns names and values of a mapping; empty if it is not one. */
  entries(): [string, YamlView][] {
    return isFields(this.value) ? Object.keys(this.value).map((name) => [name, this.#child(name)]) : [];
  }

  /** Text, or "" if it is not one. */
  get text(): string {
    return typeof this.value === "string" ? this.value : "";
  }

  /** Integer, which protobuf's JSON may also write as a string; null otherwise. */
  get number(): number | null {
    const { value } = this;
    if (typeof value === "number") return value;
    return typeof value === "string" && /^\d+$/.test(value) ? Number(value) : null;
  }

  /** Seconds of a duration such as "0.25s"; null otherwise. */
  get seconds(): number | null {
    const found = /^(\d+(?:\.\d+)?)s$/.exec(this.text)?.[1];
    return found === undefined ? null : Number(found);
  }

  /** Last part of `typed_config`'s type: "ext_proc.v3.ExternalProcessor". */
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
