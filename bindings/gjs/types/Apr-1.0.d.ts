// SPDX-License-Identifier: LGPL-2.1-or-later
// Apr as scripts see it: the library together with its override, which takes arrays and returns promises. The modules
// of GLib, GObject and Gio come from elsewhere, such as @girs/gjs.

declare module 'gi://Apr?version=1.0' {
  import Gio from 'gi://Gio?version=2.0';
  import GLib from 'gi://GLib?version=2.0';
  import GObject from 'gi://GObject?version=2.0';

  export namespace Apr {
    type NumberArray = Int8Array | Uint8Array | Uint8ClampedArray | Int16Array | Uint16Array | Int32Array | Uint32Array |
      Float32Array | Float64Array;
    type TypedArray = NumberArray | BigInt64Array | BigUint64Array;

    /** Numbers in arrays that have the same lengths at each depth, in a typed array, or a tensor. */
    type Numbers = Tensor | TypedArray | number | readonly number[] | readonly Numbers[];

    /** All elements, row by row, and their shape. Float32Array or Float64Array for most models. */
    type ShapedArray = TypedArray & {readonly shape: number[]};

    /** Arrays in arrays, as deep as the tensor has dimensions. */
    type NestedNumbers = number | bigint | NestedNumbers[];

    class Error extends GLib.Error {
      static SHAPE: number;
      static DTYPE: number;
      static RANGE: number;
      static EMPTY: number;
      static NOT_FINITE: number;
      static WEIGHTS: number;
      static NOT_FITTED: number;
      static FEATURE_NAMES: number;
      static MODEL: number;
      static FAILED: number;
      static SYNTAX: number;
      static STATE: number;
    }

    class SafetensorsError extends GLib.Error {
      static TRUNCATED: number;
      static TRAILING_DATA: number;
      static HEADER_TOO_LARGE: number;
      static ENCODING: number;
      static SYNTAX: number;
      static DEPTH: number;
      static FIELD: number;
      static METADATA: number;
      static DUPLICATE: number;
      static NAME: number;
      static DTYPE: number;
      static OVERFLOW: number;
      static OVERLAP: number;
      static GAP: number;
      static MISALIGNED: number;
      static SIZE_MISMATCH: number;
      static NOT_FOUND: number;
      static SHARD_NAME: number;
      static INDEX: number;
    }

    enum DType {
      NONE, BOOL, F4, F6_E2M3, F6_E3M2, U8, I8, F8_E5M2, F8_E4M3, F8_E8M0, F8_E4M3FNUZ, F8_E5M2FNUZ, I16, U16, F16, BF16,
      I32, U32, F32, C64, F64, I64, U64,
    }
    namespace DType {
      function from_string(name: string): [boolean, DType];
      function get_bits(dtype: DType): number;
      function to_string(dtype: DType): string;
    }

    enum Precision {EXACT, DOUBLE}
    enum IntervalKind {PREDICTION, CONFIDENCE}
    enum CovarianceKind {CLASSICAL, HC0, HC1, HC2, HC3}
    enum SafetensorsLoadMode {MAP, READ}

    const PARAM_TRANSIENT: GObject.ParamFlags;

    class Tensor {
      /** Copies; a typed array gives its dtype, arrays give F64, or F32 if all numbers are in Float32Arrays. */
      static from(values: Numbers, shape?: readonly number[] | null): Tensor;
      static new_from_bytes(dtype: DType, shape: readonly number[], bytes: GLib.Bytes | Uint8Array): Tensor;
      static new_from_floats(values: Numbers, shape: readonly number[]): Tensor;
      static new_from_doubles(values: Numbers, shape: readonly number[]): Tensor;
      readonly dtype: DType;
      readonly shape: number[];
      get_bytes(): GLib.Bytes;
      get_double(index: number): number;
      get_dtype(): DType;
      get_n_dims(): number;
      get_n_elements(): number;
      get_shape(): number[];
      cast(dtype: DType): Tensor;
      equal(other: Tensor): boolean;
      slice(indices: string): Tensor;
      slice_rows(start: number, stop: number): Tensor;
      /** A copy of all elements; Uint8Array of the bytes if JavaScript has no such numbers. */
      to_typed_array(): TypedArray;
      to_array(): NestedNumbers;
      to_string(): string;
      /** The rows: numbers, typed arrays, or arrays of them. */
      [Symbol.iterator](): IterableIterator<any>;
    }

    class SafetensorsReader extends GObject.Object {
      /** Opens the file when the reader is first used. */
      constructor(properties?: {
        file?: Gio.File; bytes?: GLib.Bytes; load_mode?: SafetensorsLoadMode; max_header_size?: number;
      });
      static new_from_bytes(bytes: GLib.Bytes | Uint8Array): SafetensorsReader;
      static new_from_file(file: Gio.File, cancellable?: Gio.Cancellable | null): SafetensorsReader;
      static new_from_file_async(file: Gio.File, priority?: number, cancellable?: Gio.Cancellable | null):
        Promise<SafetensorsReader>;
      static new_from_path(path: string): SafetensorsReader;
      static new_from_stream(stream: Gio.InputStream, cancellable?: Gio.Cancellable | null): SafetensorsReader;
      readonly load_mode: SafetensorsLoadMode;
      readonly max_header_size: number;
      readonly metadata: Record<string, string>;
      init(cancellable: Gio.Cancellable | null): boolean;
      get_dtype(name: string): DType;
      get_metadata(): Record<string, string>;
      get_metadata_keys(): string[];
      get_names(): string[];
      get_names_in_file_order(): string[];
      get_offset(name: string): number;
      get_shape(name: string): number[];
      get_size(name: string): number;
      get_slice(name: string, indices: string): Tensor;
      get_tensor(name: string): Tensor;
      has_tensor(name: string): boolean;
      [Symbol.iterator](): IterableIterator<string>;
    }

    class SafetensorsWriter extends GObject.Object {
      constructor(properties?: {alignment?: number; durable?: boolean; portable?: boolean});
      alignment: number;
      durable: boolean;
      portable: boolean;
      set_alignment(alignment: number): void;
      add_tensor(name: string, tensor: Numbers): boolean;
      declare_tensor(name: string, dtype: DType, shape: readonly number[]): boolean;
      set_data_func(
        func: ((writer: SafetensorsWriter, name: string, offset: number, size: number) => GLib.Bytes | Uint8Array) | null
      ): void;
      set_progress_func(func: ((done: number, total: number) => void) | null): void;
      set_metadata(key: string, value: string): boolean;
      set_source_bytes(name: string, bytes: GLib.Bytes | Uint8Array): boolean;
      set_source_stream(name: string, stream: Gio.InputStream): boolean;
      write_shards(folder: Gio.File, prefix: string, max_shard_size: number, cancellable?: Gio.Cancellable | null): boolean;
      write_shards_async(folder: Gio.File, prefix: string, max_shard_size: number, priority?: number,
        cancellable?: Gio.Cancellable | null): Promise<boolean>;
      write_to_bytes(): GLib.Bytes;
      write_to_bytes_async(priority?: number, cancellable?: Gio.Cancellable | null): Promise<GLib.Bytes>;
      write_to_file(file: Gio.File, cancellable?: Gio.Cancellable | null): boolean;
      write_to_file_async(file: Gio.File, priority?: number, cancellable?: Gio.Cancellable | null): Promise<boolean>;
      write_to_path(path: string): boolean;
      write_to_stream(stream: Gio.OutputStream, cancellable?: Gio.Cancellable | null): boolean;
    }

    abstract class Estimator extends GObject.Object {
      static load<T extends Estimator>(this: new (...args: any[]) => T, path: string): T;
      static from_bytes<T extends Estimator>(this: new (...args: any[]) => T, bytes: GLib.Bytes | Uint8Array): T;
      readonly fitted: boolean;
      readonly n_features: number;
      readonly n_targets: number;
      readonly feature_names: string[] | null;
      readonly busy: boolean;
      /** From 0 to 1. */
      readonly progress: number;
      /** For a subclass's fit: from 0 to 1. */
      report_progress(progress: number): void;
      static load_from_file<T extends Estimator>(this: new (...args: any[]) => T, file: Gio.File,
        cancellable?: Gio.Cancellable | null): T;
      static load_from_file_async<T extends Estimator>(this: new (...args: any[]) => T, file: Gio.File,
        cancellable?: Gio.Cancellable | null): Promise<T>;
      fit(X: Numbers, y: Numbers, sample_weight?: Numbers | null, cancellable?: Gio.Cancellable | null): this;
      /** Copies arrays above 4 MiB in slices while the main loop runs: leave them alone until it resolves. */
      fit_async(X: Numbers, y: Numbers, sample_weight?: Numbers | null, cancellable?: Gio.Cancellable | null):
        Promise<this>;
      /** One type for any number of targets; the shape is [n_samples] or [n_samples, n_targets]. */
      predict(X: Numbers): ShapedArray;
      score(X: Numbers, y: Numbers, sample_weight?: Numbers | null): number;
      predict_async(X: Numbers, cancellable?: Gio.Cancellable | null): Promise<ShapedArray>;
      score_async(X: Numbers, y: Numbers, sample_weight?: Numbers | null, cancellable?: Gio.Cancellable | null):
        Promise<number>;
      clone(): this;
      copy(): this;
      save(path: string): boolean;
      save_to_file(file: Gio.File, cancellable?: Gio.Cancellable | null): boolean;
      save_to_file_async(file: Gio.File, cancellable?: Gio.Cancellable | null): Promise<boolean>;
      to_bytes(): GLib.Bytes;
      get_feature_names(): string[] | null;
      set_feature_names(names: readonly string[] | null): boolean;
      check_feature_names(names: readonly string[]): boolean;
      vfunc_fit(X: Tensor, y: Tensor, sample_weight: Tensor | null, cancellable: Gio.Cancellable | null): boolean;
      vfunc_predict(X: Tensor): Tensor;
      vfunc_save_tensors(writer: SafetensorsWriter): boolean;
      vfunc_load_tensors(reader: SafetensorsReader): [boolean, number, number];
    }

    class LinearRegression extends Estimator {
      constructor(properties?: {
        fit_intercept?: boolean; alpha?: number; alphas?: Tensor | null; positive?: boolean; dtype?: DType; precision?: Precision;
        keep_state?: boolean; n_threads?: number;
      });
      fit_intercept: boolean;
      alpha: number;
      /** The penalties of the targets, where each has its own. */
      alphas: Tensor | null;
      positive: boolean;
      dtype: DType;
      precision: Precision;
      keep_state: boolean;
      n_threads: number;
      readonly coefficients: ShapedArray | null;
      readonly intercept: ShapedArray | null;
      readonly rank: number;
      readonly correctly_rounded: boolean;
      readonly has_statistics: boolean;
      readonly dependent_features: string[] | null;
      readonly cross_products: CrossProducts | null;
      get_coefficients(): Tensor | null;
      get_intercept(): Tensor | null;
      get_cross_products(): CrossProducts | null;
      get_dependent_features(): string[] | null;
      get_statistics(target?: number): RegressionStatistics;
      /** For the rows that were fitted, or others. */
      diagnose(X: Numbers, y: Numbers, sample_weight?: Numbers | null, target?: number,
        cancellable?: Gio.Cancellable | null): RegressionDiagnostics;
      diagnose_async(X: Numbers, y: Numbers, sample_weight?: Numbers | null, target?: number,
        cancellable?: Gio.Cancellable | null): Promise<RegressionDiagnostics>;
      /** For the rows that were fitted; HC3 by default. */
      get_robust_statistics(X: Numbers, y: Numbers, sample_weight?: Numbers | null, kind?: CovarianceKind | string, target?: number,
        cancellable?: Gio.Cancellable | null): RegressionStatistics;
      get_robust_statistics_async(X: Numbers, y: Numbers, sample_weight?: Numbers | null, kind?: CovarianceKind | string,
        target?: number, cancellable?: Gio.Cancellable | null): Promise<RegressionStatistics>;
      /** R² of each target. */
      score_cross_products(cross_products: CrossProducts): Tensor;
      score_cross_products_async(cross_products: CrossProducts, cancellable?: Gio.Cancellable | null): Promise<Tensor>;
      summary(): string;
      partial_fit(X: Numbers, y: Numbers, sample_weight?: Numbers | null, cancellable?: Gio.Cancellable | null): this;
      partial_fit_async(X: Numbers, y: Numbers, sample_weight?: Numbers | null, cancellable?: Gio.Cancellable | null):
        Promise<this>;
      compute_condition_number(): number;
      compute_condition_number_async(cancellable?: Gio.Cancellable | null): Promise<number>;
      get_statistics_async(target?: number, cancellable?: Gio.Cancellable | null): Promise<RegressionStatistics>;
      fit_cross_products(state: CrossProducts): this;
      fit_cross_products_async(state: CrossProducts, cancellable?: Gio.Cancellable | null): Promise<this>;
      predict_interval(X: Numbers, level?: number, kind?: IntervalKind | string): [ShapedArray, ShapedArray];
      predict_interval_async(X: Numbers, level?: number, kind?: IntervalKind | string, cancellable?: Gio.Cancellable | null):
        Promise<[ShapedArray, ShapedArray]>;
      predict_one(x: NumberArray | readonly number[]): number;
    }

    class RegressionStatistics extends GObject.Object {
      readonly terms: string[];
      readonly condition_number: number;
      /** The model's own coefficients where features depend on each other; null otherwise. */
      readonly minimum_norm: TypedArray | null;
      get_item_type(): unknown;
      get_n_items(): number;
      get_item(position: number): Term | null;
      items_changed(position: number, removed: number, added: number): void;
      readonly coefficients: TypedArray;
      readonly standard_errors: TypedArray;
      readonly t_values: TypedArray;
      readonly p_values: TypedArray;
      readonly variance_inflation: TypedArray;
      /** A typed array for each term. */
      readonly covariance: TypedArray[];
      readonly n_samples: number;
      readonly df_model: number;
      readonly df_residual: number;
      readonly r_squared: number;
      readonly adjusted_r_squared: number;
      readonly f_statistic: number;
      readonly f_p_value: number;
      readonly aic: number;
      readonly bic: number;
      readonly log_likelihood: number;
      readonly residual_standard_error: number;
      readonly residual_sum_of_squares: number;
      readonly residual_variance: number;
      readonly total_sum_of_squares: number;
      readonly covariance_kind: CovarianceKind;
      /** Of one row of factors for each hypothesis, an entry for each term. */
      test_hypothesis(factors: Numbers, values?: Numbers | null): HypothesisTest;
      /** Hypotheses as a text, such as 'x1 = x2, x3 = 0'. */
      test_hypothesis(text: string): HypothesisTest;
      test_hypothesis_async(factors: Numbers | string, values?: Numbers | null,
        cancellable?: Gio.Cancellable | null): Promise<HypothesisTest>;
      /** The factors of the terms and the values that a text of hypotheses stands for. */
      parse_hypothesis(text: string): [factors: Tensor, values: Tensor];
      [Symbol.iterator](): IterableIterator<Term>;
      /** Against a smaller model of the same samples. */
      compare(restricted: RegressionStatistics): HypothesisTest;
      /** The lower and the upper limit of each term. */
      get_confidence_intervals(level?: number): TypedArray[];
      to_string(): string;
    }

    class HypothesisTest extends GObject.Object {
      readonly f_statistic: number;
      readonly f_p_value: number;
      readonly df_hypothesis: number;
      readonly df_residual: number;
      readonly estimates: TypedArray;
      readonly standard_errors: TypedArray;
      readonly t_values: TypedArray;
      readonly p_values: TypedArray;
    }

    /** What a statistics' list is of. */
    class Term extends GObject.Object {
      readonly name: string;
      readonly estimate: number;
      readonly standard_error: number;
      readonly t_value: number;
      readonly p_value: number;
      readonly lower: number;
      readonly upper: number;
    }

    class RegressionDiagnostics extends GObject.Object {
      readonly fitted_values: TypedArray;
      readonly residuals: TypedArray;
      readonly leverages: TypedArray;
      readonly standardized_residuals: TypedArray;
      readonly studentized_residuals: TypedArray;
      readonly cooks_distances: TypedArray;
      readonly durbin_watson: number;
    }

    class TableReader extends GObject.Object {
      static new(stream: Gio.InputStream, name: string | null): TableReader;
      static new_for_file(file: Gio.File, cancellable?: Gio.Cancellable | null): TableReader;
      delimiter: string | null;
      decimal_comma: boolean;
      drop_missing: boolean;
      n_threads: number;
      features: string[] | null;
      targets: string[] | null;
      weight: string | null;
      readonly stream: Gio.InputStream;
      readonly name: string;
      readonly names: string[] | null;
      readonly n_rows: number;
      readonly n_dropped: number;
      readonly n_bytes: number;
      readonly progress: number;
      read_names(cancellable?: Gio.Cancellable | null): boolean;
      /** The features, as `color=red`, that turn the text in these columns into numbers. */
      read_categories(columns: string[], cancellable?: Gio.Cancellable | null): string[];
      read_categories_async(columns: string[], cancellable?: Gio.Cancellable | null): Promise<string[]>;
      /** X, y and the weights of the next rows; null at the end of the table. */
      read(cancellable?: Gio.Cancellable | null): [Tensor, Tensor | null, Tensor | null] | null;
      read_async(cancellable?: Gio.Cancellable | null): Promise<[Tensor, Tensor | null, Tensor | null] | null>;
    }

    class CrossProducts extends GObject.Object {
      static new(n_features: number, n_targets: number): CrossProducts;
      static new_with_precision(n_features: number, n_targets: number, precision: Precision): CrossProducts;
      static from_bytes(bytes: GLib.Bytes | Uint8Array): CrossProducts;
      static load(path: string): CrossProducts;
      static load_from_file(file: Gio.File, cancellable?: Gio.Cancellable | null): CrossProducts;
      static load_from_file_async(file: Gio.File, cancellable?: Gio.Cancellable | null): Promise<CrossProducts>;
      readonly n_features: number;
      readonly n_targets: number;
      readonly busy: boolean;
      /** From 0 to 1. */
      readonly progress: number;
      readonly precision: Precision;
      readonly n_samples: number;
      readonly feature_names: string[] | null;
      n_threads: number;
      update(X: Numbers, y: Numbers, sample_weight?: Numbers | null, cancellable?: Gio.Cancellable | null): this;
      update_async(X: Numbers, y: Numbers, sample_weight?: Numbers | null, cancellable?: Gio.Cancellable | null):
        Promise<this>;
      merge(other: CrossProducts): boolean;
      merge_bytes(bytes: GLib.Bytes | Uint8Array): boolean;
      subtract(other: CrossProducts): boolean;
      copy(): CrossProducts;
      equal(other: CrossProducts): boolean;
      save(path: string): boolean;
      save_to_file(file: Gio.File, cancellable?: Gio.Cancellable | null): boolean;
      save_to_file_async(file: Gio.File, cancellable?: Gio.Cancellable | null): Promise<boolean>;
      to_bytes(): GLib.Bytes;
      set_feature_names(names: readonly string[] | null): boolean;
      check_feature_names(names: readonly string[]): boolean;
      set_identity(identity: string | null): boolean;
      get_identities(): string[] | null;
      get_n_bytes(): number;
    }

    enum Metric {
      R2, EXPLAINED_VARIANCE, MEAN_SQUARED_ERROR, ROOT_MEAN_SQUARED_ERROR, MEAN_ABSOLUTE_ERROR,
      MEAN_ABSOLUTE_PERCENTAGE_ERROR, MEDIAN_ABSOLUTE_ERROR,
    }
    enum Multioutput {UNIFORM_AVERAGE, RAW_VALUES, VARIANCE_WEIGHTED}
    function compute_metric(metric: Metric | string, multioutput: Multioutput | string, y_true: Numbers, y_pred: Numbers,
      sample_weight?: Numbers | null): Float64Array;
    interface MetricFunction {
      (y_true: Numbers, y_pred: Numbers, sample_weight: Numbers | null, multioutput: Multioutput.RAW_VALUES | 'raw_values'): Float64Array;
      (y_true: Numbers, y_pred: Numbers, sample_weight?: Numbers | null, multioutput?: Multioutput | 'uniform_average' | 'variance_weighted'): number;
    }
    const r2_score: MetricFunction;
    const explained_variance_score: MetricFunction;
    const mean_squared_error: MetricFunction;
    const root_mean_squared_error: MetricFunction;
    const mean_absolute_error: MetricFunction;
    const mean_absolute_percentage_error: MetricFunction;
    const median_absolute_error: MetricFunction;
    function max_error(y_true: Numbers, y_pred: Numbers): number;
  }

  export default Apr;
}

declare module 'gi://Apr' {
  import Apr from 'gi://Apr?version=1.0';
  export default Apr;
}
