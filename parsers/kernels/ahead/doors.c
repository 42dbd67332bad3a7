/* How Python calls a kernel of a library: its arguments become a block of 64-bit words, the block its result.

   A kernel's shape is a text. Of arguments: `N` a number, `F` a flag, `l2` an array of two dimensions whose items have
   the buffer format `l`, `(...)` a tuple. After `>` what it returns: `N`, `U` (unsigned), `F`, `(...)` or nothing. The
   words of an array are its address and its length in each dimension; those of a tuple are its parts'.

   Only Python's stable ABI is used, of 3.11 on, and declared here: no header of Python is needed to compile this, and
   one library serves every version. */

typedef long long Word;
typedef long Size;
typedef struct object Object;
typedef struct { void *data; Object *owner; Size size, item_size; int is_readonly, dimensions; char *format;
                 Size *shape, *strides, *suboffsets; void *internal; } Buffer;
typedef Object *(*Function)(Object *, Object *const *, Size);
typedef struct { const char *name; Function function; int flags; const char *doc; } Method;
typedef struct { Method method; void (*kernel)(Word *); const char *shape; } Door;

extern Object *PyExc_TypeError, *PyExc_RuntimeError, _Py_NoneStruct;
extern int PyObject_GetBuffer(Object *, Buffer *, int), PyObject_IsTrue(Object *);
extern void PyBuffer_Release(Buffer *), PyEval_RestoreThread(void *), Py_IncRef(Object *), PyMem_Free(void *);
extern void *PyEval_SaveThread(void), *PyMem_Calloc(unsigned long, unsigned long);
extern void *PyCapsule_GetPointer(Object *, const char *);
extern unsigned long long PyLong_AsUnsignedLongLongMask(Object *);
extern Object *PyErr_Occurred(void), *PyErr_Format(Object *, const char *, ...), *PyErr_NoMemory(void);
extern Object *PyLong_FromLongLong(Word), *PyLong_FromUnsignedLongLong(unsigned long long), *PyBool_FromLong(long);
extern Object *PyTuple_New(Size), *PyTuple_GetItem(Object *, Size), *PyCapsule_New(void *, const char *, void *);
extern int PyTuple_SetItem(Object *, Size, Object *);
extern Size PyTuple_Size(Object *);
extern Object *PyCFunction_NewEx(Method *, Object *, Object *);
extern void Py_DecRef(Object *);

enum { CONTIGUOUS_WITH_FORMAT = 0x3C, POSITIONAL = 0x80, WORDS = 256, BUFFERS = 96 };

/* What a call holds while the kernel runs. */
typedef struct { Word words[WORDS]; Buffer buffers[BUFFERS]; int used, held; } Call;

static const char *take(Call *, Object *, const char *, const char *);

/* The shape after a tuple whose parts begin at it; null after an error. */
static const char *take_parts(Call *call, Object *parts, const char *shape, const char *name)
{
    Size place = 0, size = PyTuple_Size(parts);
    if (size < 0)
        return 0;
    for (; *shape != ')'; place++) {
        if (place >= size)
            return (const char *)PyErr_Format(PyExc_TypeError, "%s: a tuple of %zd parts is too short", name, size);
        if (!(shape = take(call, PyTuple_GetItem(parts, place), shape, name)))
            return 0;
    }
    if (place < size)
        return (const char *)PyErr_Format(PyExc_TypeError, "%s: a tuple of %zd parts is too long", name, size);
    return shape + 1;
}

static const char *take_array(Call *call, Object *argument, const char *shape, const char *name)
{
    Buffer *array = &call->buffers[call->held];
    int dimensions = shape[1] - '0', at;
    if (call->held == BUFFERS || PyObject_GetBuffer(argument, array, CONTIGUOUS_WITH_FORMAT) < 0)
        return PyErr_Occurred() ? 0 : (const char *)PyErr_Format(PyExc_TypeError, "%s: too many arrays", name);
    call->held++;
    char format = array->format ? array->format[array->format[0] == '<' || array->format[0] == '='] : 'B';
    if ((format == 'q' ? 'l' : format) != shape[0] || array->dimensions != dimensions)
        return (const char *)PyErr_Format(PyExc_TypeError, "%s: %d dimension(s) of '%c' are taken, not %d of '%s'", name,
                                          dimensions, shape[0], array->dimensions, array->format ? array->format : "B");
    call->words[call->used++] = (Word)array->data;
    for (at = 0; at < dimensions; at++)
        call->words[call->used++] = array->shape[at];
    return shape + 2;
}

static const char *take(Call *call, Object *argument, const char *shape, const char *name)
{
    if (call->used + 8 > WORDS)
        return (const char *)PyErr_Format(PyExc_TypeError, "%s: too many arguments", name);
    if (*shape == '(')
        return take_parts(call, argument, shape + 1, name);
    if (*shape != 'N' && *shape != 'F')
        return take_array(call, argument, shape, name);
    Word word = *shape == 'N' ? (Word)PyLong_AsUnsignedLongLongMask(argument) : PyObject_IsTrue(argument);
    if (word == -1 && PyErr_Occurred())
        return 0;
    call->words[call->used++] = word;
    return shape + 1;
}

/* The scalar of a shape. */
static Object *scalar(Word word, char shape)
{
    if (shape == 'F')
        return PyBool_FromLong((long)word);
    return shape == 'U' ? PyLong_FromUnsignedLongLong(word) : PyLong_FromLongLong(word);
}

static Object *result(const Word *words, const char *shape)
{
    if (!*shape) {
        Py_IncRef(&_Py_NoneStruct);
        return &_Py_NoneStruct;
    }
    if (*shape != '(')
        return scalar(*words, *shape);
    Size size = 0, at;
    while (shape[1 + size] != ')')
        size++;
    Object *parts = PyTuple_New(size);
    for (at = 0; parts && at < size; at++) {
        Object *part = scalar(words[at], shape[1 + at]);
        if (!part || PyTuple_SetItem(parts, at, part) < 0) {
            Py_DecRef(parts);
            return 0;
        }
    }
    return parts;
}

static Object *call_kernel(Object *self, Object *const *arguments, Size count)
{
    Door *door = PyCapsule_GetPointer(self, 0);
    if (!door)
        return 0;
    Call call;
    const char *shape = door->shape;
    Object *returned = 0;
    Size at = 0;
    call.used = call.held = 0;
    while (shape && *shape != '>') {
        if (at == count) {
            shape = (const char *)PyErr_Format(PyExc_TypeError, "%s: %zd argument(s) are too few", door->method.name, count);
            break;
        }
        shape = take(&call, arguments[at++], shape, door->method.name);
    }
    if (shape && at < count)
        PyErr_Format(PyExc_TypeError, "%s takes %zd argument(s), not %zd", door->method.name, at, count);
    else if (shape) {
        void *thread = PyEval_SaveThread();
        door->kernel(call.words);
        PyEval_RestoreThread(thread);
        if (call.words[0])
            PyErr_Format(PyExc_RuntimeError, "%s ended with %lld", door->method.name, call.words[0]);
        else
            returned = result(call.words + 1, shape + 1);
    }
    while (call.held)
        PyBuffer_Release(&call.buffers[--call.held]);
    return returned;
}

/* A function of Python for a kernel; the three texts live as long as the process. */
Object *kernels_open_door(void (*kernel)(Word *), const char *shape, const char *name, const char *doc)
{
    Door *door = PyMem_Calloc(1, sizeof(Door));
    if (!door)
        return PyErr_NoMemory();
    door->method.name = name;
    door->method.function = call_kernel;
    door->method.flags = POSITIONAL;
    door->method.doc = doc;
    door->kernel = kernel;
    door->shape = shape;
    Object *self = PyCapsule_New(door, 0, 0);
    Object *function = self ? PyCFunction_NewEx(&door->method, self, 0) : 0;
    if (self)
        Py_DecRef(self);
    if (!function)
        PyMem_Free(door);
    return function;
}
