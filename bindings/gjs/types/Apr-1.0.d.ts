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

    /** A label for each sample, all of one type. */
    type Labels = Tensor | ArrayLike<string> | ArrayLike<number> | ArrayLike<bigint> | ArrayLike<boolean>;

    /** What a linear regression computes: Float32Array where its dtype is F32. */
    type FloatArray = Float32Array | Float64Array;

    /** All elements, row by row, and their shape. */
    type ShapedArray<Elements extends TypedArray = FloatArray> = Elements & {readonly shape: number[]};

    /** Arrays in arrays, as deep as the tensor has dimensions. */
    type NestedNumbers = number | bigint | NestedNumbers[];

    /** What is wrong with arguments, data or a model: `error.matches(Apr.Error, Apr.Error.SHAPE)`. */
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
      static NO_MEMORY: number;
    }

    /** What is wrong with a file. */
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
      function get_bits(dtype: DType | string): number;
      function to_string(dtype: DType): string;
    }

    /** How products are summed: without any rounding, or in double, which is faster for wide data. */
    enum Precision {EXACT, DOUBLE}
    /** What an interval holds: one more sample, or the mean of all samples with the same features. */
    enum IntervalKind {PREDICTION, CONFIDENCE}
    /** How the covariance of the coefficients is estimated; those that begin with HC allow for unequal variances. */
    enum CovarianceKind {CLASSICAL, HC0, HC1, HC2, HC3}
    /** Whether tensors are mapped into memory, or read from the file when they are asked for. */
    enum SafetensorsLoadMode {MAP, READ}

    const PARAM_TRANSIENT: GObject.ParamFlags;
    const VERSION_MAJOR: number;
    const VERSION_MINOR: number;
    const VERSION_MICRO: number;
    /** The instruction set that runs, such as `avx2`. */
    function get_kernel(): string;
    /** What the environment variable APRENDER_KERNEL may be set to on this machine. */
    function list_kernels(): string[];

    /** An array of numbers that never changes: a dtype, a shape, and bytes in row-major order. */
    class Tensor {
      /** Copies; a typed array gives its dtype, arrays give F64, or F32 if all numbers are in Float32Arrays. */
      static from(values: Numbers, shape?: readonly number[] | null): Tensor;
      /** Shares the bytes, which are row-major and little-endian. */
      static new_from_bytes(dtype: DType | string, shape: readonly number[], bytes: GLib.Bytes | Uint8Array): Tensor;
      /** Copies; F32 whatever the values are. */
      static new_from_floats(values: Numbers, shape: readonly number[]): Tensor;
      /** Copies; F64 whatever the values are. */
      static new_from_doubles(values: Numbers, shape: readonly number[]): Tensor;
      readonly dtype: DType;
      readonly shape: number[];
      /** The elements, little-endian, without a copy: do not write there. */
      get_bytes(): GLib.Bytes;
      /** One element, counted in row-major order. */
      get_double(index: number): number;
      get_dtype(): DType;
      get_n_dims(): number;
      get_n_elements(): number;
      get_shape(): number[];
      /** To F16, BF16, F32 or F64; each element is rounded once. */
      cast(dtype: DType | string): Tensor;
      cast_async(dtype: DType | string, cancellable?: Gio.Cancellable | null): Promise<Tensor>;
      /** Whether the dtype, the shape and the bytes are the same. */
      equal(other: Tensor): boolean;
      /** What numpy would take, written as there: `1:3, ::-2, -1`. */
      slice(indices: string): Tensor;
      /** The rows from start up to stop, which is excluded; they share the memory. */
      slice_rows(start: number, stop: number): Tensor;
      /** A copy of all elements: Float32Array of F16, BF16 and F8; a TypeError if JavaScript has no such numbers. */
      to_typed_array(): TypedArray;
      /** Nested arrays of numbers; a number for a scalar. */
      to_array(): NestedNumbers;
      /** For people, such as `F64 [2] [1, 2.5]`; long dimensions are shortened. */
      to_string(): string;
      /** The rows: numbers, typed arrays, or arrays of them. */
      [Symbol.iterator](): IterableIterator<any>;
    }

    /** Reads a SafeTensors file, or all shards of an index. Iterates over the names of the tensors. */
    class SafetensorsReader extends GObject.Object {
      /** Opens the file when the reader is first used. */
      constructor(properties?: {
        file?: Gio.File; bytes?: GLib.Bytes; load_mode?: SafetensorsLoadMode | string; max_header_size?: number;
      });
      /** Reads a file that is in memory, and keeps the bytes. */
      static new_from_bytes(bytes: GLib.Bytes | Uint8Array): SafetensorsReader;
      /** Maps a local file, and loads any other. A name that ends in `.index.json` is an index of shards. */
      static new_from_file(file: Gio.File, cancellable?: Gio.Cancellable | null): SafetensorsReader;
      static new_from_file_async(file: Gio.File, cancellable?: Gio.Cancellable | null): Promise<SafetensorsReader>;
      static new_from_path(path: string): SafetensorsReader;
      /** Reads a stream into memory, up to its end. */
      static new_from_stream(stream: Gio.InputStream, cancellable?: Gio.Cancellable | null): SafetensorsReader;
      readonly load_mode: SafetensorsLoadMode;
      readonly max_header_size: number;
      /** The file's metadata, sorted by their keys. */
      readonly metadata: Record<string, string>;
      /** Opens the file of a reader that was made with properties; what uses the reader does so itself. */
      init(cancellable: Gio.Cancellable | null): boolean;
      get_dtype(name: string): DType;
      get_metadata(): Record<string, string>;
      get_metadata_keys(): string[];
      /** The names of the tensors, sorted. */
      get_names(): string[];
      get_names_in_file_order(): string[];
      /** Where a tensor's bytes begin, counted from the first byte of the file. */
      get_offset(name: string): number;
      get_shape(name: string): number[];
      /** The size of a tensor in bytes. */
      get_size(name: string): number;
      /** A part of a tensor, as Tensor.slice() writes it: `1:3, 0`. */
      get_slice(name: string, indices: string): Tensor;
      get_slice_async(name: string, indices: string, cancellable?: Gio.Cancellable | null): Promise<Tensor>;
      /** Shares the memory of the file; in the load mode READ it reads the file. */
      get_tensor(name: string): Tensor;
      get_tensor_async(name: string, cancellable?: Gio.Cancellable | null): Promise<Tensor>;
      has_tensor(name: string): boolean;
      [Symbol.iterator](): IterableIterator<string>;
    }

    /** Writes SafeTensors files: add tensors, then write to a file, a stream, shards or bytes. */
    class SafetensorsWriter extends GObject.Object {
      constructor(properties?: {alignment?: number; durable?: boolean; portable?: boolean});
      /** The alignment of the data in the file, in bytes: a power of two from 8, the default, to 4096. */
      alignment: number;
      /** Whether a write waits until the disk has the file; true by default. */
      durable: boolean;
      /** Whether metadata keys that another reader refuses are refused; true by default. */
      portable: boolean;
      set_alignment(alignment: number): void;
      /** Adds a tensor; arrays are copied. */
      add_tensor(name: string, tensor: Numbers): boolean;
      /** Adds a tensor whose bytes a source or the function of set_data_func() supplies while it is written. */
      declare_tensor(name: string, dtype: DType | string, shape: readonly number[]): boolean;
      /** The function supplies `size` bytes of the tensor `name` from `offset` on, when they are written. */
      set_data_func(
        func: ((writer: SafetensorsWriter, name: string, offset: number, size: number) => GLib.Bytes | Uint8Array) | null
      ): void;
      /** The function hears how many of all bytes are written. */
      set_progress_func(func: ((done: number, total: number) => void) | null): void;
      /** Sets a text of the file's metadata. */
      set_metadata(key: string, value: string): boolean;
      /** The bytes of a declared tensor. */
      set_source_bytes(name: string, bytes: GLib.Bytes | Uint8Array): boolean;
      /** A stream that the bytes of a declared tensor are read from. */
      set_source_stream(name: string, stream: Gio.InputStream): boolean;
      /**
       * Writes files of at most max_shard_size bytes of tensors each, `prefix-00001-of-00003.safetensors` and so on,
       * and their index.
       */
      write_shards(folder: Gio.File, prefix: string, max_shard_size: number, cancellable?: Gio.Cancellable | null): boolean;
      write_shards_async(folder: Gio.File, prefix: string, max_shard_size: number,
        cancellable?: Gio.Cancellable | null): Promise<boolean>;
      /** The bytes that the file would have. */
      write_to_bytes(): GLib.Bytes;
      write_to_bytes_async(cancellable?: Gio.Cancellable | null): Promise<GLib.Bytes>;
      /** Replaces the file in one step: there is the old one or the new one. */
      write_to_file(file: Gio.File, cancellable?: Gio.Cancellable | null): boolean;
      write_to_file_async(file: Gio.File, cancellable?: Gio.Cancellable | null): Promise<boolean>;
      /** As write_to_file(), to a local path. */
      write_to_path(path: string): boolean;
      /** Writes to a stream, which stays open. */
      write_to_stream(stream: Gio.OutputStream, cancellable?: Gio.Cancellable | null): boolean;
      write_to_stream_async(stream: Gio.OutputStream, cancellable?: Gio.Cancellable | null): Promise<boolean>;
      get_alignment(): number;
      get_durable(): boolean;
      get_portable(): boolean;
      set_durable(durable: boolean): void;
      set_portable(portable: boolean): void;
    }

    /**
     * What every model does. In all methods X is [n_samples, n_features]: an array of rows, a Tensor, or a typed array
     * with the property `shape`. y is [n_samples], or [n_samples, n_targets] for several targets; sample_weight is
     * [n_samples]: how much each sample counts.
     *
     * A method that is given wrong data throws an Apr.Error, or a TypeError, and leaves the model as it was; a promise
     * is rejected with it.
     */
    abstract class Estimator extends GObject.Object {
      /** The hyper-parameters, which are the properties of a subclass. */
      constructor(properties?: {[name: string]: any});
      /** Makes a fitted model from a file, which may change or go afterwards. */
      static load<T extends Estimator>(this: new (...args: any[]) => T, path: string): T;
      /** Makes a fitted model from what to_bytes() made. */
      static from_bytes<T extends Estimator>(this: new (...args: any[]) => T, bytes: GLib.Bytes | Uint8Array): T;
      static from_bytes_async<T extends Estimator>(this: new (...args: any[]) => T, bytes: GLib.Bytes | Uint8Array,
        cancellable?: Gio.Cancellable | null): Promise<T>;
      /** Whether the model has been fitted or loaded. */
      readonly fitted: boolean;
      /** The number of features of the last fit; 0 before the first. */
      readonly n_features: number;
      /** The number of targets of the last fit; 0 before the first. */
      readonly n_targets: number;
      /** The names of the features, which may be assigned: one for each feature, or null to forget them. */
      get feature_names(): string[] | null;
      set feature_names(names: readonly string[] | null);
      /** The names of the targets, in the order of y's columns, which may be assigned; null forgets them. */
      get target_names(): string[] | null;
      set target_names(names: readonly string[] | null);
      /**
       * Whether a fit is under way, from the call of fit_async() on: another one is refused with
       * Gio.IOErrorEnum.PENDING.
       */
      readonly busy: boolean;
      /** From 0 to 1. */
      readonly progress: number;
      /** For a subclass's fit: from 0 to 1. */
      report_progress(progress: number): void;
      /** Makes the model busy while you prepare the data of a fit; others' fits are refused until release(). */
      reserve(): boolean;
      /** Ends what reserve() began: call it just before your own fit. */
      release(): void;
      /** As load(), from any Gio.File. */
      static load_from_file<T extends Estimator>(this: new (...args: any[]) => T, file: Gio.File,
        cancellable?: Gio.Cancellable | null): T;
      static load_from_file_async<T extends Estimator>(this: new (...args: any[]) => T, file: Gio.File,
        cancellable?: Gio.Cancellable | null): Promise<T>;
      /**
       * Fits the model, in place of what it was fitted to before, and returns it. This blocks; fit_async() does not.
       * @param X the features, [n_samples, n_features]
       * @param y the targets, [n_samples] or [n_samples, n_targets]
       * @param sample_weight how much each sample counts, [n_samples], none below 0; null for equal weights
       * @param cancellable a way to stop from a handler of notify::progress
       */
      fit(X: Numbers, y: Numbers, sample_weight?: Numbers | null, cancellable?: Gio.Cancellable | null): this;
      /**
       * Fits without blocking; the arguments are those of fit(). The model is busy at once, and changes just before the
       * promise resolves. Arrays above 4 MiB are copied in slices while the main loop runs: leave them alone until
       * then.
       */
      fit_async(X: Numbers, y: Numbers, sample_weight?: Numbers | null, cancellable?: Gio.Cancellable | null):
        Promise<this>;
      /** One type for any number of targets; the shape is [n_samples] or [n_samples, n_targets]. */
      predict(X: Numbers): ShapedArray<TypedArray>;
      /** R² of the predictions for X beside the true targets y: 1 is perfect, 0 is as good as the mean. */
      score(X: Numbers, y: Numbers, sample_weight?: Numbers | null): number;
      predict_async(X: Numbers, cancellable?: Gio.Cancellable | null): Promise<ShapedArray<TypedArray>>;
      score_async(X: Numbers, y: Numbers, sample_weight?: Numbers | null, cancellable?: Gio.Cancellable | null):
        Promise<number>;
      /**
       * Scores each fold by a new model with these hyper-parameters that is fitted to all other samples; this model
       * stays as it is.
       * @param folds samples in folds
       * @param metric what a score is: `r2`, the default, or another metric, such as `mean_squared_error`
       */
      cross_validate(folds: Folds, metric?: Metric | string, cancellable?: Gio.Cancellable | null):
        ShapedArray<Float64Array>;
      cross_validate_async(folds: Folds, metric?: Metric | string, cancellable?: Gio.Cancellable | null):
        Promise<ShapedArray<Float64Array>>;
      /** Predicts for each sample by a model that has not seen its fold; NaN for samples that are in none. */
      cross_predict(folds: Folds, cancellable?: Gio.Cancellable | null): ShapedArray;
      cross_predict_async(folds: Folds, cancellable?: Gio.Cancellable | null): Promise<ShapedArray>;
      /** An unfitted model of the same class with the same hyper-parameters. */
      clone(): this;
      /** A model with the same hyper-parameters that is fitted in the same way. */
      copy(): this;
      /** Writes the model to a SafeTensors file, in one step. It has to be fitted. */
      save(path: string): boolean;
      save_to_file(file: Gio.File, cancellable?: Gio.Cancellable | null): boolean;
      save_to_file_async(file: Gio.File, cancellable?: Gio.Cancellable | null): Promise<boolean>;
      /** The bytes that save() would write. */
      to_bytes(): GLib.Bytes;
      to_bytes_async(cancellable?: Gio.Cancellable | null): Promise<GLib.Bytes>;
      get_feature_names(): string[] | null;
      set_feature_names(names: readonly string[] | null): boolean;
      /** Throws unless these are the names that the model was fitted with, in the same order. */
      check_feature_names(names: readonly string[]): boolean;
      get_target_names(): string[] | null;
      set_target_names(names: readonly string[] | null): boolean;
      /** Throws unless these are the names of the targets that the model was fitted with, in the same order. */
      check_target_names(names: readonly string[]): boolean;
      /** For a subclass: learns from tensors whose shapes have been checked. Throws, or returns true. */
      vfunc_fit(X: Tensor, y: Tensor, sample_weight: Tensor | null, cancellable: Gio.Cancellable | null): boolean;
      /** For a subclass: [n_samples] or [n_samples, n_targets] of X, whose width has been checked. */
      vfunc_predict(X: Tensor): Numbers;
      /** For a subclass's fit: keeps what it finds under a name, for copies, files and get_result(). Returns true. */
      set_result(name: string, result: Numbers): boolean;
      /** For a subclass: what its fit has kept under a name. */
      get_result(name: string): Tensor;
      /** For a subclass that keeps results elsewhere: adds what it has learnt to a file. Throws, or returns true. */
      vfunc_save_tensors(writer: SafetensorsWriter): boolean;
      /** For such a subclass: takes it from a file; true, n_features and n_targets. */
      vfunc_load_tensors(reader: SafetensorsReader): [boolean, number, number];
      get_busy(): boolean;
      get_fitted(): boolean;
      get_n_features(): number;
      get_n_targets(): number;
      get_progress(): number;
    }

    /** Ordinary least squares and ridge regression, correctly rounded. */
    class LinearRegression extends Estimator {
      constructor(properties?: {
        fit_intercept?: boolean; alpha?: number; alphas?: Numbers | null; positive?: boolean;
        dtype?: DType | string; precision?: Precision | string; keep_state?: boolean; n_threads?: number;
      });
      /** Whether there is an intercept; true by default. */
      fit_intercept: boolean;
      /** The ridge penalty: at least 0, which is ordinary least squares and the default. */
      alpha: number;
      /** The penalties of the targets, where each has its own. */
      get alphas(): Tensor | null;
      set alphas(alphas: Numbers | null);
      /** Whether no coefficient may be below 0; false by default. */
      positive: boolean;
      /** The dtype of coefficients, predictions and file: `f32`, `f64`, or `none` to follow X, the default. */
      get dtype(): DType;
      set dtype(dtype: DType | string);
      /** How products are summed: `exact`, the default, or `double`. */
      get precision(): Precision;
      set precision(precision: Precision | string);
      /** Whether files hold the sums too, so that a loaded model has statistics and can partial_fit(). */
      keep_state: boolean;
      /** The maximum number of threads; 0, the default, for one per processor. Answers do not depend on it. */
      n_threads: number;
      /** [n_features] or [n_targets, n_features]; null before the first fit. */
      readonly coefficients: ShapedArray | null;
      /** One number for each target: `model.intercept[0]`; 0 without an intercept, null before the first fit. */
      readonly intercept: ShapedArray | null;
      /** The number of independent features; -1 where it is not known. */
      readonly rank: number;
      /** Whether each coefficient is proven to be the number nearest to the exact answer. */
      readonly correctly_rounded: boolean;
      /** By how many standard deviations of its target rounding may change a prediction: from 0.0001 on, it spoils it. */
      readonly prediction_rounding: number;
      /** Whether get_statistics() can answer: after a fit of ordinary least squares. */
      readonly has_statistics: boolean;
      /** The names of features that are sums of others before them. */
      readonly dependent_features: string[] | null;
      /** The sums of the samples of the fit; null where there are none. */
      readonly cross_products: CrossProducts | null;
      get_coefficients(): Tensor | null;
      get_intercept(): Tensor | null;
      get_cross_products(): CrossProducts | null;
      get_dependent_features(): string[] | null;
      /** Standard errors, p-values, R², F and more; target is a name, or counted from 0, the default. */
      get_statistics(target?: number | string): RegressionStatistics;
      /**
       * Residuals, leverages, Cook's distances and more, of the samples that were fitted.
       * @param target which target, by its name, or counted from 0, the default
       */
      diagnose(X: Numbers, y: Numbers, sample_weight?: Numbers | null, target?: number | string,
        cancellable?: Gio.Cancellable | null): RegressionDiagnostics;
      diagnose_async(X: Numbers, y: Numbers, sample_weight?: Numbers | null, target?: number | string,
        cancellable?: Gio.Cancellable | null): Promise<RegressionDiagnostics>;
      /**
       * Statistics with standard errors that allow for unequal variances (heteroscedasticity), of the samples that were
       * fitted.
       * @param kind `hc0`, `hc1`, `hc2`, or `hc3`, the default
       * @param target which target, by its name, or counted from 0, the default
       */
      get_robust_statistics(X: Numbers, y: Numbers, sample_weight?: Numbers | null, kind?: CovarianceKind | string, target?: number | string,
        cancellable?: Gio.Cancellable | null): RegressionStatistics;
      get_robust_statistics_async(X: Numbers, y: Numbers, sample_weight?: Numbers | null, kind?: CovarianceKind | string,
        target?: number | string, cancellable?: Gio.Cancellable | null): Promise<RegressionStatistics>;
      /** R² of each target for samples that have been summed, which need not be those of the fit. */
      score_cross_products(cross_products: CrossProducts): ShapedArray;
      score_cross_products_async(cross_products: CrossProducts, cancellable?: Gio.Cancellable | null): Promise<ShapedArray>;
      /** The statistics of all targets as a text of tables. */
      summary(): string;
      summary_async(cancellable?: Gio.Cancellable | null): Promise<string>;
      /**
       * Fits to more samples beside those of before: the same model as one fit to all of them.
       * The arguments are those of fit().
       */
      partial_fit(X: Numbers, y: Numbers, sample_weight?: Numbers | null, cancellable?: Gio.Cancellable | null): this;
      partial_fit_async(X: Numbers, y: Numbers, sample_weight?: Numbers | null, cancellable?: Gio.Cancellable | null):
        Promise<this>;
      /**
       * Fits a regression to each group of samples, with the settings of this model, which stays as it is.
       * @param X the features, [n_samples, n_features]
       * @param y the targets, [n_samples] or [n_samples, n_targets]
       * @param groups the label of the group of each sample
       */
      fit_groups(X: Numbers, y: Numbers, groups: Labels, sample_weight?: Numbers | null,
        cancellable?: Gio.Cancellable | null): GroupFits;
      fit_groups_async(X: Numbers, y: Numbers, groups: Labels, sample_weight?: Numbers | null,
        cancellable?: Gio.Cancellable | null): Promise<GroupFits>;
      /** How much an error of the data can grow in the coefficients, at most. */
      compute_condition_number(): number;
      compute_condition_number_async(cancellable?: Gio.Cancellable | null): Promise<number>;
      get_statistics_async(target?: number | string, cancellable?: Gio.Cancellable | null): Promise<RegressionStatistics>;
      /** Fits to samples that have been summed before: the same model as fit() of the samples. */
      fit_cross_products(state: CrossProducts, cancellable?: Gio.Cancellable | null): this;
      fit_cross_products_async(state: CrossProducts, cancellable?: Gio.Cancellable | null): Promise<this>;
      /**
       * Where the truth is with the probability `level`: the lower and the upper ends, in the shape of the predictions.
       * @param X the features, [n_samples, n_features]
       * @param level between 0 and 1; 0.95 by default
       * @param kind `prediction`, of one more sample, which is the default, or `confidence`, of the mean of all such
       * samples
       */
      predict_interval(X: Numbers, level?: number, kind?: IntervalKind | string): [ShapedArray, ShapedArray];
      predict_interval_async(X: Numbers, level?: number, kind?: IntervalKind | string, cancellable?: Gio.Cancellable | null):
        Promise<[ShapedArray, ShapedArray]>;
      /** As of Apr.Estimator, but always of floats, in the model's dtype. */
      predict(X: Numbers): ShapedArray;
      predict_async(X: Numbers, cancellable?: Gio.Cancellable | null): Promise<ShapedArray>;
      /**
       * The prediction for one sample, of a model of one target, without making a tensor.
       * @param x the features in their order, or an object with each by its name, in any order
       */
      predict_one(x: NumberArray | readonly number[] | Readonly<Record<string, number>>): number;
      get_alpha(): number;
      get_alphas(): Tensor | null;
      get_correctly_rounded(): boolean;
      get_dtype(): DType;
      get_fit_intercept(): boolean;
      get_has_statistics(): boolean;
      get_keep_state(): boolean;
      get_n_threads(): number;
      get_positive(): boolean;
      get_precision(): Precision;
      get_prediction_rounding(): number;
      get_rank(): number;
      set_alpha(alpha: number): void;
      set_alphas(alphas: Numbers | null): void;
      set_dtype(dtype: DType | string): void;
      set_fit_intercept(fit_intercept: boolean): void;
      set_keep_state(keep_state: boolean): void;
      set_n_threads(n_threads: number): void;
      set_positive(positive: boolean): void;
      set_precision(precision: Precision | string): void;
    }

    /** What a fit says beside the coefficients. It is a Gio.ListModel of Apr.Term, and iterates over the terms. */
    class RegressionStatistics extends GObject.Object {
      /** What the entries of the arrays belong to: `(Intercept)`, where there is one, and the features. */
      readonly terms: string[];
      readonly condition_number: number;
      /** By how many standard deviations of the target rounding may change a prediction. */
      readonly prediction_rounding: number;
      /** The model's own coefficients where features depend on each other; null otherwise. */
      readonly minimum_norm: FloatArray | null;
      get_item_type(): GObject.GType;
      get_n_items(): number;
      get_item(position: number): Term | null;
      items_changed(position: number, removed: number, added: number): void;
      /** NaN for a feature that depends on others before it, as R has it. */
      readonly coefficients: FloatArray;
      readonly standard_errors: FloatArray;
      readonly t_values: FloatArray;
      /** The probabilities of t-values at least as far from 0 where the coefficient is 0. */
      readonly p_values: FloatArray;
      /** How much greater a variance is because features are correlated; NaN for the intercept. */
      readonly variance_inflation: FloatArray;
      /** A typed array for each term. */
      readonly covariance: FloatArray[];
      /** The samples whose weight is not 0. */
      readonly n_samples: number;
      /** The degrees of freedom of the model. */
      readonly df_model: number;
      readonly df_residual: number;
      readonly r_squared: number;
      readonly adjusted_r_squared: number;
      readonly f_statistic: number;
      readonly f_p_value: number;
      /** 2 k - 2 log-likelihood, where k counts the coefficients, as statsmodels does; R counts σ too. */
      readonly aic: number;
      readonly bic: number;
      readonly log_likelihood: number;
      /** σ, the root of the residual variance. */
      readonly residual_standard_error: number;
      readonly residual_sum_of_squares: number;
      readonly residual_variance: number;
      readonly total_sum_of_squares: number;
      readonly covariance_kind: CovarianceKind;
      /**
       * Tests linear hypotheses about the coefficients: each by Student's t, all together by F.
       * @param factors a row for each hypothesis, with an entry for each term: [[0, 1, -1]] says that x0 and x1 are
       * equal
       * @param values what the sums are equal to; null for 0
       */
      test_hypothesis(factors: Numbers, values?: Numbers | null): HypothesisTest;
      /** The same of hypotheses as a text, such as `x1 = x2, x3 = 0`, or as several texts. */
      test_hypothesis(text: string | readonly string[]): HypothesisTest;
      test_hypothesis_async(factors: Numbers | string | readonly string[], values?: Numbers | null,
        cancellable?: Gio.Cancellable | null): Promise<HypothesisTest>;
      /** The factors of the terms and the values that a text of hypotheses stands for. */
      parse_hypothesis(text: string): [factors: Tensor, values: Tensor];
      [Symbol.iterator](): IterableIterator<Term>;
      /** Tests this model against a smaller one of the same samples, whose features are some of its own. */
      compare(restricted: RegressionStatistics): HypothesisTest;
      /** The lower and the upper end for each term: [lower, upper]; level is 0.95 by default. */
      get_confidence_intervals(level?: number): FloatArray[];
      to_string(): string;
      get_adjusted_r_squared(): number;
      get_aic(): number;
      get_bic(): number;
      get_coefficients(): Tensor;
      get_condition_number(): number;
      get_covariance(): Tensor;
      get_covariance_kind(): CovarianceKind;
      get_df_model(): number;
      get_df_residual(): number;
      get_f_p_value(): number;
      get_f_statistic(): number;
      get_log_likelihood(): number;
      get_minimum_norm(): Tensor;
      get_n_samples(): number;
      get_p_values(): Tensor;
      get_prediction_rounding(): number;
      get_r_squared(): number;
      get_residual_standard_error(): number;
      get_residual_sum_of_squares(): number;
      get_residual_variance(): number;
      get_standard_errors(): Tensor;
      get_t_values(): Tensor;
      get_terms(): string[];
      get_total_sum_of_squares(): number;
      get_variance_inflation(): Tensor;
    }

    interface RegressionStatistics extends Gio.ListModel<Term> {}

    /** What a test found. */
    class HypothesisTest extends GObject.Object {
      /** Of all hypotheses together. */
      readonly f_statistic: number;
      /** The probability of an F at least as large where all hypotheses are true. */
      readonly f_p_value: number;
      /** F's first degrees of freedom. */
      readonly df_hypothesis: number;
      /** F's second degrees of freedom, and t's. */
      readonly df_residual: number;
      /** Of each hypothesis: the sum of the coefficients. */
      readonly estimates: FloatArray;
      readonly standard_errors: FloatArray;
      readonly t_values: FloatArray;
      /** Of each hypothesis alone. */
      readonly p_values: FloatArray;
      /** The lower and the upper end for each sum of coefficients: [lower, upper]; level is 0.95 by default. */
      get_confidence_intervals(level?: number): FloatArray[];
      get_df_hypothesis(): number;
      get_df_residual(): number;
      get_estimates(): Tensor;
      get_f_p_value(): number;
      get_f_statistic(): number;
      get_p_values(): Tensor;
      get_standard_errors(): Tensor;
      get_t_values(): Tensor;
    }

    /** What a statistics' list is of. */
    class Term extends GObject.Object {
      readonly name: string;
      readonly estimate: number;
      readonly standard_error: number;
      readonly t_value: number;
      readonly p_value: number;
      /** The lower end of the interval of 95 %. */
      readonly lower: number;
      /** The upper end of the interval of 95 %. */
      readonly upper: number;
      get_estimate(): number;
      get_lower(): number;
      get_name(): string;
      get_p_value(): number;
      get_standard_error(): number;
      get_t_value(): number;
      get_upper(): number;
    }

    /** Regressions of groups of samples: each array has an entry for each group, in the order of their labels. */
    class GroupFits extends GObject.Object {
      readonly n_groups: number;
      /** How many groups could not be fitted: their coefficients are NaN, and check() throws what is wrong. */
      readonly n_failed: number;
      /** In ascending order. */
      readonly labels: ArrayLike<string | number | bigint | boolean>;
      /** [n_groups, n_features] or [n_groups, n_targets, n_features]. */
      readonly coefficients: ShapedArray;
      /** [n_groups, 1] or [n_groups, n_targets]. */
      readonly intercepts: ShapedArray;
      /** Samples of weight 0 are not counted. */
      readonly n_samples: ArrayLike<bigint>;
      /** -1 where a group could not be fitted. */
      readonly ranks: ArrayLike<bigint>;
      /** 1 where each coefficient is proven to be the number nearest to the exact answer. */
      readonly correctly_rounded: ArrayLike<number>;
      get_labels(): Tensor;
      get_coefficients(): Tensor;
      get_intercepts(): Tensor;
      get_n_samples(): Tensor;
      get_ranks(): Tensor;
      get_correctly_rounded(): Tensor;
      /** Throws why a group, counted from 0 in the order of the labels, could not be fitted. */
      check(group: number): boolean;
      get_n_failed(): number;
      get_n_groups(): number;
    }

    /** Samples that are cut into folds, for a model's cross_validate() and cross_predict(). */
    class Folds extends GObject.Object {
      /** Folds of samples as they follow each other; the first three arguments are those of a fit. This blocks. */
      static new(X: Numbers, y: Numbers, sample_weight: Numbers | null, n_folds: number): Folds;
      /** Folds of samples that are dealt out at random; the same seed gives the same folds. */
      static new_shuffled(X: Numbers, y: Numbers, sample_weight: Numbers | null, n_folds: number, seed: number): Folds;
      /** Samples with the same label are in the same fold, those with a negative one in none. */
      static new_from_labels(X: Numbers, y: Numbers, sample_weight: Numbers | null, labels: Labels): Folds;
      /** Of samples that have been summed before: the sums of each fold. */
      static new_from_cross_products(states: readonly CrossProducts[]): Folds;
      readonly n_folds: number;
      /** Of each sample, that of its fold; null where the folds were made of cross products. */
      readonly labels: ArrayLike<string | number | bigint | boolean> | null;
      get_labels(): Tensor | null;
      get_n_folds(): number;
    }

    /** How well each sample is fitted, and how much the fit depends on it. */
    class RegressionDiagnostics extends GObject.Object {
      /** The predictions. */
      readonly fitted_values: FloatArray;
      /** What the exact solution leaves of the targets. */
      readonly residuals: FloatArray;
      /** How much each prediction depends on its own target, from 0 to 1. */
      readonly leverages: FloatArray;
      /** The residuals by their own standard errors: R's rstandard(). */
      readonly standardized_residuals: FloatArray;
      /** The same with the σ of the fit without the sample: R's rstudent(). */
      readonly studentized_residuals: FloatArray;
      /** How far all predictions move without the sample. */
      readonly cooks_distances: FloatArray;
      /** About 2 where residuals in a row are uncorrelated. */
      readonly durbin_watson: number;
      get_cooks_distances(): Tensor;
      get_durbin_watson(): number;
      get_fitted_values(): Tensor;
      get_leverages(): Tensor;
      get_residuals(): Tensor;
      get_standardized_residuals(): Tensor;
      get_studentized_residuals(): Tensor;
    }

    /** Reads tables of comma-separated values of any size, compressed or not, block by block. */
    class TableReader extends GObject.Object {
      constructor(properties: {
        stream: Gio.InputStream; name?: string; delimiter?: string | null; decimal_comma?: boolean; drop_missing?: boolean;
        n_threads?: number; features?: string[] | null; targets?: string[] | null; weight?: string | null;
      });
      /** Of a stream, which stays open; name is what messages call the table. */
      static new(stream: Gio.InputStream, name: string | null): TableReader;
      static new_for_file(file: Gio.File, cancellable?: Gio.Cancellable | null): TableReader;
      /** The character between two cells; null to find it in the first row. */
      delimiter: string | null;
      /** Whether numbers have a decimal comma. */
      decimal_comma: boolean;
      /** Whether rows that miss a number are passed over, instead of being an error. */
      drop_missing: boolean;
      n_threads: number;
      /** The columns that make X, in this order; null for all with a name that are neither targets nor the weight. */
      features: string[] | null;
      /** The columns that make y; null for none. */
      targets: string[] | null;
      /** The column of the weights; null for none. */
      weight: string | null;
      readonly stream: Gio.InputStream;
      readonly name: string;
      /** The names of all columns, once read_names() or read() has been called; empty where a column has none. */
      readonly names: string[] | null;
      /** How many rows have been handed out. */
      readonly n_rows: number;
      /** How many rows have been passed over. */
      readonly n_dropped: number;
      /** How many numbers are missing, where that is what was found wrong. */
      readonly n_missing: number;
      /** Which rows were read last, from 0; null unless drop_missing is set. */
      readonly row_numbers: Tensor | null;
      /** How many bytes have been read. */
      readonly n_bytes: number;
      /** From 0 to 1, where the size of the stream is known. */
      readonly progress: number;
      /** Reads the first row. */
      read_names(cancellable?: Gio.Cancellable | null): boolean;
      read_names_async(cancellable?: Gio.Cancellable | null): Promise<boolean>;
      /** The cells of the first rows, row by row, as they are written; null before the names have been read. */
      peek_cells(max_rows: number): string[] | null;
      /** The features, as `color=red`, that turn the text in these columns into numbers. */
      read_categories(columns: string[], cancellable?: Gio.Cancellable | null): string[];
      read_categories_async(columns: string[], cancellable?: Gio.Cancellable | null): Promise<string[]>;
      /** X, y and the weights of the next rows; null at the end of the table. */
      read(cancellable?: Gio.Cancellable | null): [Tensor, Tensor | null, Tensor | null] | null;
      read_async(cancellable?: Gio.Cancellable | null): Promise<[Tensor, Tensor | null, Tensor | null] | null>;
      /** Calls read() until the end of the table. */
      [Symbol.iterator](): IterableIterator<[Tensor, Tensor | null, Tensor | null]>;
      /** Calls read_async() until the end of the table. */
      [Symbol.asyncIterator](): AsyncIterableIterator<[Tensor, Tensor | null, Tensor | null]>;
      get_decimal_comma(): boolean;
      get_delimiter(): string | null;
      get_drop_missing(): boolean;
      get_features(): string[] | null;
      get_n_bytes(): number;
      get_n_dropped(): number;
      get_n_missing(): number;
      get_n_rows(): number;
      get_n_threads(): number;
      get_name(): string;
      get_names(): string[] | null;
      get_progress(): number;
      get_row_numbers(): Tensor | null;
      get_targets(): string[] | null;
      get_weight(): string | null;
      set_decimal_comma(decimal_comma: boolean): void;
      set_delimiter(delimiter: string | null): void;
      set_drop_missing(drop_missing: boolean): void;
      set_features(features: readonly string[] | null): void;
      set_n_threads(n_threads: number): void;
      set_targets(targets: readonly string[] | null): void;
      set_weight(weight: string | null): void;
    }

    /** The exact sums of samples, which merge and subtract: all that a linear regression needs of its data. */
    class CrossProducts extends GObject.Object {
      constructor(properties: {
        n_features: number; n_targets: number; precision?: Precision | string; n_threads?: number;
      });
      /** Sums of no samples. */
      static new(n_features: number, n_targets: number): CrossProducts;
      static new_with_precision(n_features: number, n_targets: number, precision: Precision | string): CrossProducts;
      /** From what to_bytes() made. */
      static from_bytes(bytes: GLib.Bytes | Uint8Array): CrossProducts;
      static from_bytes_async(bytes: GLib.Bytes | Uint8Array, cancellable?: Gio.Cancellable | null):
        Promise<CrossProducts>;
      static load(path: string): CrossProducts;
      static load_from_file(file: Gio.File, cancellable?: Gio.Cancellable | null): CrossProducts;
      static load_from_file_async(file: Gio.File, cancellable?: Gio.Cancellable | null): Promise<CrossProducts>;
      readonly n_features: number;
      readonly n_targets: number;
      /** Whether an update is under way, from the call of update_async() on: other writes are refused. */
      readonly busy: boolean;
      /** From 0 to 1. */
      readonly progress: number;
      readonly precision: Precision;
      readonly n_samples: number;
      /** May be assigned: one for each feature, or null to forget them. */
      get feature_names(): string[] | null;
      set feature_names(names: readonly string[] | null);
      /** The same for each target. */
      get target_names(): string[] | null;
      set target_names(names: readonly string[] | null);
      n_threads: number;
      /** Adds samples and returns itself; the arguments are those of a fit. */
      update(X: Numbers, y: Numbers, sample_weight?: Numbers | null, cancellable?: Gio.Cancellable | null): this;
      /** The same without blocking: leave the arrays alone until the promise resolves. */
      update_async(X: Numbers, y: Numbers, sample_weight?: Numbers | null, cancellable?: Gio.Cancellable | null):
        Promise<this>;
      /** Makes the sums busy while you prepare samples; others' updates are refused until release(). */
      reserve(): boolean;
      /** Ends what reserve() began: call it just before your own update. */
      release(): void;
      /** Adds the samples of other sums. */
      merge(other: CrossProducts): this;
      merge_async(other: CrossProducts, cancellable?: Gio.Cancellable | null): Promise<this>;
      /** Adds the samples of sums that were sent. */
      merge_bytes(bytes: GLib.Bytes | Uint8Array): this;
      merge_bytes_async(bytes: GLib.Bytes | Uint8Array, cancellable?: Gio.Cancellable | null): Promise<this>;
      /** Takes samples away that were added before. */
      subtract(other: CrossProducts): this;
      subtract_async(other: CrossProducts, cancellable?: Gio.Cancellable | null): Promise<this>;
      copy(): CrossProducts;
      equal(other: CrossProducts): boolean;
      equal_async(other: CrossProducts, cancellable?: Gio.Cancellable | null): Promise<boolean>;
      save(path: string): boolean;
      save_to_file(file: Gio.File, cancellable?: Gio.Cancellable | null): boolean;
      save_to_file_async(file: Gio.File, cancellable?: Gio.Cancellable | null): Promise<boolean>;
      to_bytes(): GLib.Bytes;
      to_bytes_async(cancellable?: Gio.Cancellable | null): Promise<GLib.Bytes>;
      set_feature_names(names: readonly string[] | null): boolean;
      check_feature_names(names: readonly string[]): boolean;
      set_target_names(names: readonly string[] | null): boolean;
      check_target_names(names: readonly string[]): boolean;
      /** Names the samples, so that they are never merged twice. */
      set_identity(identity: string | null): boolean;
      /** The identities of all parts; null where there are none. */
      get_identities(): string[] | null;
      /** How much memory the sums take. */
      get_n_bytes(): number;
      get_busy(): boolean;
      get_feature_names(): string[] | null;
      get_n_features(): number;
      get_n_samples(): number;
      get_n_targets(): number;
      get_n_threads(): number;
      get_precision(): Precision;
      get_progress(): number;
      get_target_names(): string[] | null;
      set_n_threads(n_threads: number): void;
    }

    enum Metric {
      R2, EXPLAINED_VARIANCE, MEAN_SQUARED_ERROR, ROOT_MEAN_SQUARED_ERROR, MEAN_ABSOLUTE_ERROR,
      MEAN_ABSOLUTE_PERCENTAGE_ERROR, MEDIAN_ABSOLUTE_ERROR, MAX_ERROR,
    }
    enum Multioutput {UNIFORM_AVERAGE, RAW_VALUES, VARIANCE_WEIGHTED}
    /** A metric of predictions, by its name: of each target for `raw_values`, else one number in an array. */
    function compute_metric(metric: Metric | string, multioutput: Multioutput | string, y_true: Numbers, y_pred: Numbers,
      sample_weight?: Numbers | null): Float64Array;
    function compute_metric_async(metric: Metric | string, multioutput: Multioutput | string, y_true: Numbers,
      y_pred: Numbers, sample_weight?: Numbers | null, cancellable?: Gio.Cancellable | null): Promise<Float64Array>;
    /** Compares predictions with the true targets; both are [n_samples] or [n_samples, n_targets]. */
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
