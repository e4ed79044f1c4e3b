package verbena.sim.explore;

import static java.lang.classfile.ClassFile.ACC_PUBLIC;
import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;
import static java.lang.constant.ConstantDescs.INIT_NAME;
import static java.lang.constant.ConstantDescs.MTD_void;

import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Field;
import java.util.List;

/// Shows a [Fingerprint] the fields of an object. Reflection takes ten times as long, so there is a class for
/// the fields of each class.
public abstract class FieldReader {
    private static final ClassDesc SELF = FieldReader.class.describeConstable().orElseThrow();
    private static final ClassDesc TO = Fingerprint.class.describeConstable().orElseThrow();
    private static final MethodTypeDesc READ = MethodTypeDesc.of(CD_void, CD_Object, TO);

    public abstract void read(Object object, Fingerprint to);

    /// @param fields of this class itself, none of which is static
    static FieldReader of(Class<?> type, List<Field> fields) {
        if (type.isHidden()) {
            return new Reflected(fields);
        }
        ClassDesc owner = type.describeConstable().orElseThrow();
        byte[] code = ClassFile.of()
                .build(
                        ClassDesc.of(type.getPackageName(), type.getSimpleName() + "Reader"),
                        made -> made.withSuperclass(SELF)
                                .withMethodBody(
                                        INIT_NAME,
                                        MTD_void,
                                        ACC_PUBLIC,
                                        to -> to.aload(0)
                                                .invokespecial(SELF, INIT_NAME, MTD_void)
                                                .return_())
                                .withMethodBody("read", READ, ACC_PUBLIC, to -> read(owner, fields, to)));
        try {
            var lookup = MethodHandles.privateLookupIn(type, MethodHandles.lookup());
            return (FieldReader) lookup.defineHiddenClass(code, true, MethodHandles.Lookup.ClassOption.NESTMATE)
                    .lookupClass()
                    .getConstructor()
                    .newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void read(ClassDesc owner, List<Field> fields, CodeBuilder to) {
        for (Field field : fields) {
            Class<?> of = field.getType();
            to.aload(2)
                    .aload(1)
                    .checkcast(owner)
                    .getfield(owner, field.getName(), of.describeConstable().orElseThrow());
            if (!of.isPrimitive()) {
                to.invokevirtual(TO, "object", MethodTypeDesc.of(CD_void, CD_Object));
                continue;
            }
            if (of == float.class) {
                to.f2l();
            } else if (of == double.class) {
                to.invokestatic(
                        Double.class.describeConstable().orElseThrow(),
                        "doubleToRawLongBits",
                        MethodTypeDesc.of(CD_long, java.lang.constant.ConstantDescs.CD_double));
            } else if (of != long.class) {
                to.i2l();
            }
            to.invokevirtual(TO, "number", MethodTypeDesc.of(CD_void, CD_long));
        }
        to.return_();
    }

    /// For the classes of lambdas, which have no name.
    private static final class Reflected extends FieldReader {
        private final List<Field> fields;

        Reflected(List<Field> fields) {
            this.fields = fields;
            fields.forEach(field -> field.setAccessible(true));
        }

        @Override
        public void read(Object object, Fingerprint to) {
            for (Field field : fields) {
                try {
                    to.object(field.get(object));
                } catch (IllegalAccessException e) {
                    throw new IllegalStateException(e);
                }
            }
        }
    }
}
