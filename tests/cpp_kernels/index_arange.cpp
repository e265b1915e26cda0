
#include <torch/csrc/inductor/cpp_prefix.h>
extern "C"  void  kernel(const float* in_ptr0,
                       float* out_ptr0,
                       const int64_t ks0,
                       const int64_t ks1)
{
    std::atomic<int> inductor_cpu_integer_div_error{0};
    inductor_cpu_integer_div_error_flag = &inductor_cpu_integer_div_error;
    {
        #pragma GCC ivdep
        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(ks0); x0+=static_cast<int64_t>(1L))
        {
            {
                {
                    auto tmp0 = ((-3L) + x0 < 0L) ? ((-3L) + ks1 + x0) : ((-3L) + x0);
                    auto tmp1 = c10::convert<int64_t>(tmp0);
                    TORCH_CHECK((0 <= tmp1) & (tmp1 < ks1), "index out of bounds: 0 <= tmp1 < ks1");
                    auto tmp3 = in_ptr0[static_cast<int64_t>(((-3L) + x0 < 0L) ? ((-3L) + ks1 + x0) : ((-3L) + x0))];
                    out_ptr0[static_cast<int64_t>(x0)] = tmp3;
                }
            }
        }
    }
    inductor_cpu_integer_div_error_flag = nullptr;
    inductor_cpu_throw_if_integer_div_error(inductor_cpu_integer_div_error);
}

