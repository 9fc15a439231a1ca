import { join } from 'node:path';

import {
  API,
  SymbolFlags,
  TypeFlags,
  type Checker,
  type Project,
  type Symbol as Named,
  type Type,
} from 'typescript/unstable/sync';

/** As much of JSON Schema (2020-12) as the types of the protocol need. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
}

const repository = join(import.meta.dirname, '../..');

/**
 * Reads exported types of `src` as JSON schemas, with their docstrings as descriptions, through TypeScript's own API (of the version
 * in package-lock.json: it is marked unstable). A named type of the project becomes a definition, another one stands where it is used.
 */
export class TypeSchemas implements Disposable {
  readonly #api = new API({ cwd: repository });
  readonly #project: Project;
  readonly #checker: Checker;
  readonly #definitions = new Map<string, JsonSchema>();

  constructor() {
    const snapshot = this.#api.updateSnapshot({ openProjects: [join(repository, 'tsconfig.json')] });
    const [project] = snapshot.getProjects();
    if (!project) throw new Error('tsconfig.json is no project');
    this.#project = project;
    this.#checker = project.checker;
  }

  /** All named types that were met so far, by name. */
  get definitions(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries([...this.#definitions].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** The schema of a type that a file of `src` exports; what it names goes to `definitions`. */
  of(file: string, name: string): JsonSchema {
    const source = this.#project.program.getSourceFile(join(repository, 'src', file));
    const module = source && this.#checker.getSymbolAtLocation(source);
    const symbol = module && this.#checker.getExportsOfModule(module).find((one) => one.name === name);
    if (!symbol) throw new Error(`src/${file} exports no ${name}`);
    return this.#inline(this.#checker.getDeclaredTypeOfSymbol(symbol));
  }

  [Symbol.dispose](): void {
    this.#api.close();
  }

  #schema(type: Type): JsonSchema {
    const name = this.#nameOf(type);
    if (name === undefined) return this.#inline(type);
    if (!this.#definitions.has(name.name)) {
      this.#definitions.set(name.name, {}); // it may name itself
      const description = name.getDocumentationComment(this.#checker);
      this.#definitions.set(name.name, { ...said(description), ...this.#inline(type) });
    }
    return { $ref: `#/$defs/${name.name}` };
  }

  /** The symbol under which a type is known in the project; undefined for what is written where it is used, or is the language's. */
  #nameOf(type: Type): Named | undefined {
    const symbol = type.getAliasSymbol() ?? (type.flags & TypeFlags.Object ? type.getSymbol() : undefined);
    const [declaration] = symbol?.declarations ?? [];
    const isOurs = declaration?.path.startsWith(join(repository, 'src').toLowerCase()) ?? false;
    const isNamed = symbol !== undefined && !symbol.name.startsWith('__') && type.getAliasTypeArguments().length === 0;
    return isOurs && isNamed ? symbol : undefined;
  }

  #inline(type: Type): JsonSchema {
    if (type.flags & TypeFlags.Unknown) return {};
    if (type.flags & TypeFlags.Null) return { type: 'null' };
    if (type.flags & TypeFlags.Boolean) return { type: 'boolean' };
    if (type.flags & TypeFlags.String) return { type: 'string' };
    if (type.flags & TypeFlags.Number) return { type: 'number' };
    if (type.isLiteralType()) return { const: type.value };
    if (type.isUnionType())
      return union(
        type
          .getTypes()
          .filter(isDefined)
          .map((one) => this.#schema(one)),
      );
    if (this.#checker.isArrayType(type) || this.#checker.isTupleType(type)) return this.#list(type);
    if (type.flags & (TypeFlags.Object | TypeFlags.Intersection)) return this.#object(type);
    throw new Error(`${this.#checker.typeToString(type)} has no JSON schema here`);
  }

  #list(type: Type): JsonSchema {
    const items = this.#checker.getTypeArguments(type as Parameters<Checker['getTypeArguments']>[0]);
    return { type: 'array', items: union(items.map((item) => this.#schema(item))) };
  }

  #object(type: Type): JsonSchema {
    const properties: Record<string, JsonSchema> = {};
    const required: string[] = [];
    for (const property of this.#checker.getPropertiesOfType(type)) {
      const own = this.#checker.getTypeOfSymbol(property);
      if (!own) throw new Error(`${property.name} has no type`);
      properties[property.name] = { ...said(property.getDocumentationComment(this.#checker)), ...this.#schema(own) };
      if (!(property.flags & SymbolFlags.Optional)) required.push(property.name);
    }
    return { type: 'object', properties, ...(required.length > 0 && { required }) };
  }
}

const isDefined = (type: Type): boolean => !(type.flags & TypeFlags.Undefined);

/** A docstring as one line, without the diagrams that some have. */
const said = (text: string): JsonSchema => {
  const paragraphs = text.split(/\n\s*\n/).filter((each) => each.trim() !== '' && !each.includes('▶'));
  return paragraphs.length === 0 ? {} : { description: paragraphs.join(' ').replaceAll(/\s+/g, ' ').trim() };
};

/** One of several, in as few words as JSON Schema has for it. */
function union(members: readonly JsonSchema[]): JsonSchema {
  const literals = members.flatMap((member) => ('const' in member ? [member.const] : []));
  const others = members.filter((member) => !('const' in member));
  const isBoolean = literals.length === 2 && literals.every((literal) => typeof literal === 'boolean');
  const merged: readonly JsonSchema[] = [
    ...(isBoolean
      ? [{ type: 'boolean' }]
      : literals.length > 1
        ? [{ enum: literals }]
        : literals.map((one) => ({ const: one }))),
    ...others,
  ];
  const distinct = [...new Map(merged.map((one) => [JSON.stringify(one), one])).values()];
  return distinct.length === 1 ? (distinct[0] as JsonSchema) : { anyOf: distinct };
}
