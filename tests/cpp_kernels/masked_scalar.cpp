extern "C"  void  cpp_fused_add_constant_pad_nd_index_0(const int64_t* in_ptr0,
                       const float* in_ptr1,
                       float* out_ptr0,
                       const int64_t ks0,
                       const int64_t ks1)
{
    std::atomic<int> inductor_cpu_integer_div_error{0};
    inductor_cpu_integer_div_error_flag = &inductor_cpu_integer_div_error;
    {
        #pragma GCC ivdep
        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(12L + ks0); x0+=static_cast<int64_t>(1L))
        {
            {
                {
                    auto tmp0 = (-3L) + x0;
                    auto tmp1 = c10::convert<int64_t>(tmp0);
                    auto tmp2 = static_cast<int64_t>(0);
                    auto tmp3 = tmp1 >= tmp2;
                    auto tmp4 = ks0;
                    auto tmp5 = c10::convert<int64_t>(tmp4);
                    auto tmp6 = tmp1 < tmp5;
                    auto tmp7 = tmp3 & tmp6;
                    auto tmp8 = [&]
                    {
                        auto tmp9 = in_ptr0[static_cast<int64_t>((-3L) + x0)];
                        auto tmp10 = ks1;
                        auto tmp11 = c10::convert<int64_t>(tmp10);
                        auto tmp12 = int64_t(tmp9 + tmp11);
                        auto tmp13 = tmp9 < 0;
                        auto tmp14 = tmp13 ? tmp12 : tmp9;
                        auto tmp15 = tmp14;
                        auto tmp16 = c10::convert<int64_t>(tmp15);
                        AOTI_TORCH_CHECK((0 <= tmp16) & (tmp16 < ks1), "index out of bounds: 0 <= tmp16 < ks1");
                        auto tmp18 = in_ptr1[static_cast<int64_t>(tmp14)];
                        return tmp18;
                    }
                    ;
                    auto tmp19 = tmp7 ? tmp8() : static_cast<decltype(tmp8())>(0.0);
                    auto tmp20 = static_cast<float>(1.0);
                    auto tmp21 = float(tmp19 + tmp20);
                    out_ptr0[static_cast<int64_t>(x0)] = tmp21;
                }
            }
        }
    }
    inductor_cpu_integer_div_error_flag = nullptr;
    inductor_cpu_throw_if_integer_div_error(inductor_cpu_integer_div_error);
}
